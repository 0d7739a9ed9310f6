"""Results in the making: what a grade has found so far, and the record it becomes."""

import math
import platform
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from harness import __version__
from harness.device.base import Device
from harness.device.monitor import unranked_reason
from harness.frameworks import installed_version
from harness.grading.job import Options
from harness.grading.solution_refs import with_path
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.build import Build
from harness.records.cases import CaseResult, ShrunkCase
from harness.records.measurement import BaselineScore, Conditions, Interval, Measurement, Score
from harness.records.profile import Profile
from harness.records.refs import MEASURED, DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.result import Reason, Result, Verdict
from harness.session.fault import Fault
from harness.timing.audit import cached_reason, linearity_doubt
from harness.timing.baseline_by_itself import slowed_baseline
from harness.timing.budget import TimingBudget
from harness.timing.statistics import geometric_mean

_RUNNER_NAME = r"solution\.(?:cu|py)"
"""The name of a submission's file that its runner sees, as a regular expression."""


ROUGH = "effort verdict: a rough time; grade with more effort for a rank"


@dataclass(frozen=True, slots=True)
class TimedFault:
    """A submission failed while it was timed, in ``case`` if in one; it printed ``output``."""

    fault: Fault
    case: Case | None = None
    output: str = ""


@dataclass(slots=True)
class ResultBuilder:
    """The parts of a result that are known so far; only :class:`Grader` writes them."""

    task: Task
    """The problem, its reference, the data type, the device and the seed."""
    solution: SolutionRef
    """The submission."""
    options: Options
    """How it is graded."""
    reason: Reason | None = None
    """Why a file cannot be taken as a submission."""
    layers: tuple[str, ...] = ()
    """Layers of confinement of its runner."""
    build: Build | None = None
    """How it was built."""
    drawn: tuple[Case, ...] = ()
    """All cases, run or not."""
    cases: tuple[CaseResult, ...] = ()
    """The cases that were run."""
    shrunk: ShrunkCase | None = None
    """The smallest case that fails."""
    output: str = ""
    """What the submission printed: untrusted, capped."""
    conditions: Conditions | None = None
    """What the device was like while times were taken."""
    profile: Profile | None = None
    """What a profiler saw of one call."""
    notes: list[str] = field(default_factory=list)
    """What else a reader should know."""

    def finish(
        self,
        verdict: Verdict,
        message: str = "",
        measurements: tuple[Measurement, ...] = (),
        score: Score | None = None,
    ) -> Result:
        """The finished record."""
        task = self.task
        problem = task.problem
        result = Result(
            id=secrets.token_hex(16),
            created=datetime.now(UTC),
            problem=ProblemRef(
                slug=problem.slug, title=problem.title, hash=problem.hash, format=problem.format
            ),
            solution=self.solution,
            language=self.solution.language,
            dtype=task.dtype,
            device=DeviceRef(kind=task.device.kind, name=task.device.name),
            verdict=verdict,
            reason=self.reason,
            message=message,
            reproduce=self._reproduce(),
            effort=self.options.effort,
            seed=task.seed,
            cases=self.cases,
            shrunk=self.shrunk,
            build=self.build,
            measurements=measurements,
            score=score,
            conditions=self.conditions,
            profile=self.profile,
            output=self.output,
            claims=problem.claims(emulated=task.device.emulated),
            notes=tuple(self.notes),
            environment=environment(task.device, self.layers),
        )
        return with_path(result, _RUNNER_NAME, self.solution.path)

    @property
    def failed_case(self) -> CaseResult | None:
        """The smallest case that fails, or else the first; None if none does."""
        failed = next((case for case in self.cases if not case.passed), None)
        return self.shrunk.case if failed and self.shrunk else failed

    def finish_failed(self, failed: TimedFault) -> Result:
        """The finished record of a submission that was right until it was timed."""
        fault, case = failed.fault, failed.case
        if case is not None:
            self.output = failed.output
            if fault.verdict is not Verdict.REJECTED:  # a rejected one gave right answers
                spec, message, mismatch = case.spec, fault.message, fault.mismatch
                failure = CaseResult(spec=spec, passed=False, message=message, mismatch=mismatch)
                self.cases += (failure,)
        return self.finish(fault.verdict, fault.message)

    def _reproduce(self) -> str:
        """The command that runs the smallest case that failed again; empty if none did."""
        failed, task = self.failed_case, self.task
        if failed is None:
            return ""
        path = self.solution.path
        written = "text" if self.solution.generation else self.solution.language
        language = f"--language {written} " if path == "-" else ""
        measured = bool(task.problem.format) and task.problem.slug.endswith(MEASURED)
        tolerance = "--tolerance measured " if measured else ""
        return (
            f"harness submit {shlex.quote(path)} {language}"
            f"--problem {shlex.quote(task.problem.named)} {tolerance}--dtype {task.dtype} "
            f"--device {task.device.kind} "
            f"--case {shlex.quote(failed.spec)} --seed {task.seed}"
        )


def make_score(
    task: Task,
    measured: Sequence[Measurement],
    budget: TimingBudget,
    *,
    known_seed: bool,
    rough: bool = False,
    conditions: Conditions | None = None,
    beside: str = "",
) -> Score:
    """Geometric means over the shapes, and whether the result can be ranked.

    ``beside`` names what of earlier submissions may have been at work meanwhile; ``rough`` times
    were taken for an idea of the score.
    """
    speedup = geometric_mean([m.speedup for m in measured])
    reason = ""
    if rough:
        reason = ROUGH
    elif known_seed:
        reason = "the seed was given, so the inputs could be known"
    elif not task.device.rankable:
        reason = "cpu: functional timing, not a GPU's"
    elif beside:
        reason = beside
    elif conditions is not None and (found := unranked_reason(conditions)):
        reason = found
    elif doubts := list(filter(None, map(linearity_doubt, measured))):
        reason = f"{doubts[0]}; grade again on a quiet machine"
    elif unfair := [
        reason for m in measured for reason in (cached_reason(m), slowed_baseline(m)) if reason
    ]:
        reason = unfair[0]
    else:
        reason = _noisy(speedup, measured, budget)
    return Score(
        baseline=next(iter(task.problem.baselines)),
        speedup=speedup,
        time_s=geometric_mean([m.time_s for m in measured]).value,
        ranked=not reason,
        unranked_reason=reason,
        other_baselines=_other_scores(measured),
    )


def _noisy(speedup: Interval, measured: Sequence[Measurement], budget: TimingBudget) -> str:
    """Why a score is too uncertain to be ranked; empty if it is not."""
    widest = max(m.speedup.relative_half_width for m in measured)
    for half, allowed, where in (
        (speedup.relative_half_width, budget.max_ranked_rel_ci, "in all"),
        (widest, budget.max_ranked_shape_rel_ci, "on one shape"),
    ):
        if half > allowed:
            wide = math.ceil(half * 1000 - 1e-6) / 1000  # never shown as what is needed
            need = f"±{allowed:.1%} is needed"
            return f"noisy: ±{wide:.1%} {where}, {need}; grade again on a quiet machine"
    return ""


def _other_scores(measured: Sequence[Measurement]) -> tuple[BaselineScore, ...]:
    """The scores over further baselines, each of which was timed on every shape."""
    by_shape = zip(*(m.other_baselines for m in measured), strict=True)
    return tuple(
        BaselineScore(
            baseline=others[0].baseline, speedup=geometric_mean([o.speedup for o in others])
        )
        for others in by_shape
    )


def environment(device: Device, layers: Sequence[str]) -> Environment:
    """The versions of everything else that a result depends on."""
    return Environment(
        harness=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        torch=_version("torch"),
        triton=_version("triton"),
        driver=device.driver_version,
        toolkit=device.toolkit_version,
        sandbox=", ".join(layers),
    )


@lru_cache  # reading it takes longer than a grade of a file without code
def _version(package: str) -> str:
    return installed_version(package) or ""
