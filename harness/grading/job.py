"""What a command asks to be graded, and how. Light: imported before it is known to make sense."""

from dataclasses import dataclass

from harness.problem.model import Problem
from harness.solution.model import Invalid, Solution

SHRINK_S = 10.0
"""Seconds that are spent on finding a smaller case when one has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user may choose for a grade.

    ``dtype`` defaults to the problem's first that the file is written for. ``seed`` and ``case``
    replay; ``timing`` is off for a verdict alone. ``arch`` is what is compiled for where there is
    no GPU, ``None`` for nothing: a verdict sooner, from execution alone. ``shrink_s`` is how long
    a smaller case may be looked for when one fails; 0 for not at all. With ``all_baselines`` the
    problem's further baselines are timed as well as the first, which the score is over. With
    ``profile`` what is accepted and not timed is profiled. ``quick`` takes times on a GPU with less
    effort.
    """

    dtype: str | None = None
    seed: str | None = None
    case: str | None = None
    timing: bool = True
    arch: str | None = "sm_90"
    shrink_s: float = SHRINK_S
    all_baselines: bool = False
    profile: bool = False
    quick: bool = False

    @property
    def timed(self) -> bool:
        """Whether times are taken: the replay of one case never is."""
        return self.timing and self.case is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A file as read, and the problem it is meant for. ``notes`` become those of its result."""

    path: str
    solution: Solution | Invalid
    problem: Problem
    notes: tuple[str, ...] = ()


def chosen_dtype(job: Job, options: Options) -> str:
    """The data type of a grade: as asked for, else the problem's first that the file is for."""
    solution, problem = job.solution, job.problem
    if options.dtype:
        return options.dtype
    if isinstance(solution, Solution) and solution.dtypes is not None:
        for dtype in problem.dtypes:
            if dtype in solution.dtypes:
                return dtype
    return problem.dtypes[0]
