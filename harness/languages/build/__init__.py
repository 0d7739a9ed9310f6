"""Compilers and what they leave behind, for the languages that are compiled before they run.

In go a submission, its target, and a :class:`~harness.languages.build.cache.Cache`. Out comes a
:class:`~harness.languages.build.cache.BuildOutcome`: files, figures on each kernel, or a failure
with its verdict.
"""
