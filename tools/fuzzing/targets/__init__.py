"""What is fuzzed: each target is a function of bytes that raises if the judge would misbehave.

A target turns the bytes into what its reader gets in a grade, calls it, and lets through only the
exceptions that the reader documents. What it returns is checked as far as it can be without
knowing what was meant. Used by ``python -m tools.fuzzing`` and, for a few seconds, by the tests.
"""

from tools.fuzzing.targets import (
    channel,
    compilers,
    imports,
    problems,
    pull_requests,
    records,
    submissions,
)
from tools.fuzzing.targets.target import Target

__all__ = ["TARGETS", "Target"]

TARGETS: tuple[Target, ...] = (
    *channel.TARGETS,
    *problems.TARGETS,
    *submissions.TARGETS,
    *compilers.TARGETS,
    *records.TARGETS,
    *imports.TARGETS,
    *pull_requests.TARGETS,
)
"""Every reader of what others wrote."""
