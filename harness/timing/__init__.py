"""Times that hold: batches of fresh, checked calls in turns with a baseline, and their audits.

In come sessions with loaded programs, cases and a budget; out come measurements with intervals, or
a fault that says what is wrong and whose it is. The method is in docs/explanation/measurement.md.
"""
