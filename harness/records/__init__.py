"""The records that outlive a grade: results, comparisons and rulings, and their parts.

They are frozen, versioned, and read and written as JSON; earlier schemas are read as the present
one. In come facts from grading or text from a store; out come checked records, the only thing that
the judge shares with :mod:`leaderboard`.
"""
