"""Submissions as data: files as read and as built, how they are called, and models' outputs.

In go the text of a file and the problem that it is for. Out come its entry point and contract
(:mod:`~harness.solution.contract`), the launches of PTX (:mod:`~harness.solution.launches`), and
the code in a generation (:mod:`~harness.solution.generation`).
"""
