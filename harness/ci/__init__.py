"""Grading of pull requests: problems from the base, submissions from the head, as git objects.

In comes a repository; out go a report and its renderings: summary, comment, JUnit, annotations.
"""
