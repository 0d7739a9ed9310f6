"""Keeps results for good and ranks them: the store, the boards, and models compared by samples.

Results, rulings and submitted files come in, as the records of ``harness``, and of ``harness``
nothing else is known here. Out go the same records, boards as pandas frames of typed columns, as
rows (:class:`leaderboard.board.BoardRow`, which needs no pandas) and as CSV.
"""
