"""The commands, one module for each family; :mod:`harness.cli` collects them.

In come arguments, options and the store; out go texts on the terminal, JSON and exit codes.
"""
