"""Stores results and ranks them. Knows of `harness` its records alone: results and rulings.

:mod:`leaderboard.store` keeps every result, :mod:`leaderboard.ranking` makes boards of them,
:mod:`leaderboard.ties` says who beats whom, :mod:`leaderboard.csvfile` exports. Only who asks for a
frame, or reads a CSV, loads pandas.
"""
