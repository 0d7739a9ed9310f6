"""Grading a pull request: problems from the base, submissions from the head, as git objects."""
