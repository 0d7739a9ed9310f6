"""The references of other people's problems, graded as submissions to them: all must be right.

`grades` grades one, `jobs` several at a time on one card or more, `collect` is the command.
"""
