"""How many problems of other formats are kept described, for the files that are built ahead."""

MOST_AHEAD = 8
"""Files that are built before their turn, at most, their problems described: compilers take as long
as some grades."""
