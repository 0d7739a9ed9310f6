"""What a command asks to be graded, and how. Light: imported before it is known to make sense."""

from dataclasses import dataclass

from harness.problem.model import Problem
from harness.solution.model import Invalid, Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user may choose for a grade.

    ``dtype`` defaults to the problem's first that the file is written for. ``seed`` and ``case``
    replay; ``timing`` is off for a verdict alone. ``arch`` is what is compiled for where there is
    no GPU.
    """

    dtype: str | None = None
    seed: str | None = None
    case: str | None = None
    timing: bool = True
    arch: str = "sm_90"

    @property
    def timed(self) -> bool:
        """Whether times are taken: the replay of one case never is."""
        return self.timing and self.case is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A file as read, and the problem it is meant for."""

    path: str
    solution: Solution | Invalid
    problem: Problem
