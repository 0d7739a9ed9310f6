"""Boards, problems and entries as a static web site that needs no server and no network.

:mod:`harness.site.build` writes it: from plain rows, as ``leaderboard.ranking.rows`` yields them,
and from result records; nothing here knows of pandas. :mod:`harness.site.pages` fills templates,
:mod:`harness.site.charts` draws, :mod:`harness.site.statement` makes safe HTML of Markdown,
:mod:`harness.site.folder` puts a finished site in the place of the former one.
"""
