"""What is asked to be graded, and how. Keep imports cheap: loaded before arguments are checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Hashable

    from harness.errors import MachineError, ProblemError
    from harness.problem.gradable import Gradable
    from harness.records.effort import Effort
    from harness.records.refs import DeviceRef
    from harness.records.result import Result
    from harness.solution.model import Invalid, Solution

SHRINK_S = 10.0
"""Seconds that are spent on finding a smaller case when one has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user may choose for a grade."""

    dtype: str | None = None
    """The data type; None: the problem's first that the file is written for."""
    seed: str | None = None
    """Draws the cases of an earlier grade again; None: a fresh secret."""
    case: str | None = None
    """Runs this one case only, such as ``m=33,n=1``."""
    timing: bool = True
    """Take times; off for a verdict alone."""
    functional_times: bool = True
    """Take them of emulated kernels, too; they say nothing of a GPU's."""
    arch: str | None = "sm_90"
    """What is compiled for where there is no GPU; None: nothing, which gives verdicts sooner."""
    shrink_s: float = SHRINK_S
    """Seconds to look for a smaller case when one fails; 0: do not look."""
    smaller: bool = True
    """Look for one; else the case that failed is run once more alone, to show its numbers."""
    all_baselines: bool = False
    """Also time the baselines beyond the first, which the score is over."""
    profile: bool = False
    """Profile what is accepted and not timed."""
    quick: bool = False
    """Where times are ranked: take them with a smaller budget."""
    rough: bool = False
    """Only a verdict and a rough time, which is never ranked."""

    @property
    def timed(self) -> bool:
        """Times are taken: never for the replay of one case."""
        return self.timing and self.case is None

    @property
    def effort(self) -> Effort:
        """How much is spent."""
        return "verdict" if self.rough else "quick" if self.quick else "full"

    def on(self, device: DeviceRef) -> Options:
        """The same, without times if they would be functional ones that nobody asked for.

        For a mere verdict also without a smaller failing case, a compilation for a GPU that is not
        there, further baselines and a profile.
        """
        options = self
        if self.rough:
            options = replace(
                options, shrink_s=0.0, smaller=False, arch=None, all_baselines=False, profile=False
            )
        if self.functional_times or not device.emulated:
            return options
        return replace(options, timing=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A file as read, and the problem it is meant for. ``notes`` become those of its result."""

    path: str
    solution: Solution | Invalid
    problem: Gradable
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """One file to grade, and how."""

    job: Job
    options: Options


Outcome: TypeAlias = "Result | ProblemError | MachineError"
"""What came of a file: its result, or what kept it from being judged."""


class Completed(NamedTuple):
    """What was asked, and what came of it."""

    work: Work
    result: Result


class NotJudged(NamedTuple):
    """What was asked, and what kept it from being judged: its problem, or the machine."""

    work: Work
    error: ProblemError | MachineError


def completed(outcome: Completed | NotJudged) -> Completed:
    """The same, if it is a result; raises what kept the file from being judged."""
    if isinstance(outcome, NotJudged):
        raise outcome.error
    return outcome


def problem_key(job: Job) -> Hashable:
    """Equal for jobs of the same version of a problem."""
    return job.problem.slug, job.problem.hash


def chosen_dtype(job: Job, options: Options) -> str:
    """The data type of a grade: as asked for, else the problem's first that the file is for."""
    from harness.solution.model import Solution

    solution, problem = job.solution, job.problem
    if options.dtype:
        return options.dtype
    if isinstance(solution, Solution) and solution.dtypes is not None:
        for dtype in problem.dtypes:
            if dtype in solution.dtypes:
                return dtype
    return problem.dtypes[0]
