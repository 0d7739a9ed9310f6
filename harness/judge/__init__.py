"""The trusted side of correctness: fills inputs, asks the reference, compares every byte.

In come a :class:`~.task.Task` and cases; out come verdicts on each case, the first and the worst
wrong element, a smaller failing case, a profile. Submitted code runs in another process, behind
:class:`~harness.session.session.Session`; nothing of it is loaded here.
"""
