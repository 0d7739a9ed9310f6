"""Stores results and ranks them. Knows of `harness` the :class:`harness.result.Result` alone.

:mod:`leaderboard.store` keeps every result, :mod:`leaderboard.ranking` makes boards of them
(imports pandas), :mod:`leaderboard.ties` says who beats whom, :mod:`leaderboard.csvfile` exports.
"""
