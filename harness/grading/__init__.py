"""Grades: from files to results, in the order build, check, time, record.

In come jobs and options from commands; out come finished result records, or comparisons of two
submissions. An executor decides where that happens, the grader in which order.
"""
