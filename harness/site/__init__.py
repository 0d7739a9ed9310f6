"""The boards as a static web site, which needs no server: ``harness site`` writes it.

The rows of ranked boards (:class:`leaderboard.board.BoardRow`), problems and the records of the
first entries of each board come in; a folder of HTML pages, a style sheet, scripts, CSV files and
downloads goes out. Whatever a submitter wrote is shown as text: it brings no markup, script or
address of its own.
"""
