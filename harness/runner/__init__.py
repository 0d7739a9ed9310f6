"""The process beside the judge that runs one submission; it must start fast.

Messages of :mod:`harness.wire` come in, answers and the work itself go out. Until a Python
submission is loaded the standard library is all that it needs.
"""
