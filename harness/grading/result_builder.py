"""Results in the making: what a grade has found so far, and the record it becomes."""

import platform
import re
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from harness import __version__
from harness.device.base import Device
from harness.device.monitor import unranked_reason
from harness.frameworks import installed_version
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.build import Build
from harness.records.cases import CaseResult, ShrunkCase
from harness.records.measurement import BaselineScore, Conditions, Interval, Measurement, Score
from harness.records.profile import Profile
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.result import Reason, Result, Verdict
from harness.session.fault import Fault
from harness.solution.model import Solution
from harness.timing.audit import linearity_doubt
from harness.timing.budget import TimingBudget
from harness.timing.statistics import geometric_mean

_NEUTRAL = re.compile(r"\bsolution\.(?:cu|py):(\d+)")


@dataclass(slots=True)
class ResultBuilder:
    """The parts of a result that are known so far; written by :class:`Grader` alone."""

    task: Task
    """What the submission is held against."""
    solution: SolutionRef
    """Which submission."""
    reason: Reason | None = None
    """What exactly is wrong with a file that cannot be taken as a submission."""
    layers: tuple[str, ...] = ()
    """The layers of confinement that its runner had."""
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
        return Result(
            id=secrets.token_hex(16),
            created=datetime.now(UTC),
            problem=ProblemRef(slug=problem.slug, title=problem.title, hash=problem.hash),
            solution=self.solution,
            language=self.solution.language,
            dtype=task.dtype,
            device=DeviceRef(kind=task.device.kind, name=task.device.name),
            verdict=verdict,
            reason=self.reason,
            message=self._placed(message),
            reproduce=self._reproduce(),
            seed=task.seed,
            cases=tuple(self._placed_case(case) for case in self.cases),
            shrunk=self.shrunk
            and self.shrunk.model_copy(update={"case": self._placed_case(self.shrunk.case)}),
            build=self.build,
            measurements=measurements,
            score=score,
            conditions=self.conditions,
            profile=self.profile,
            output=self.output,
            notes=tuple(self.notes),
            environment=environment(task.device, self.layers),
        )

    def add_timed_failure(self, case: Case, fault: Fault) -> None:
        """Record a fault in a timed shape; one that is ``REJECTED`` gave right answers."""
        if fault.verdict is not Verdict.REJECTED:
            failed = CaseResult(
                spec=case.spec, passed=False, message=fault.message, mismatch=fault.mismatch
            )
            self.cases += (failed,)

    def _placed(self, message: str) -> str:
        """``message`` with the user's path in place of the neutral name that a runner sees."""
        return _NEUTRAL.sub(lambda place: f"{self.solution.path}:{place[1]}", message)

    def _placed_case(self, case: CaseResult) -> CaseResult:
        return case.model_copy(update={"message": self._placed(case.message)})

    def _reproduce(self) -> str:
        """The command that runs the smallest case that failed again; empty if none did."""
        failed = next((case for case in self.cases if not case.passed), None)
        if failed is None:
            return ""
        if self.shrunk is not None:
            failed = self.shrunk.case
        task = self.task
        return (
            f"harness submit {shlex.quote(self.solution.path)} "
            f"--problem {task.problem.slug} --dtype {task.dtype} --device {task.device.kind} "
            f"--case {shlex.quote(failed.spec)} --seed {task.seed}"
        )


def solution_ref(solution: Solution) -> SolutionRef:
    """The reference to a submission in records."""
    return SolutionRef(
        author=solution.author,
        name=solution.name,
        language=solution.language,
        hash=solution.hash,
        path=solution.display_path,
        generation=solution.generation,
    )


def make_score(
    task: Task,
    measured: Sequence[Measurement],
    budget: TimingBudget,
    *,
    known_seed: bool,
    conditions: Conditions | None = None,
) -> Score:
    """Geometric means over the shapes, and whether the result can be ranked."""
    speedup = geometric_mean([m.speedup for m in measured])
    reason = ""
    if known_seed:
        reason = "the seed was given, so the inputs could be known"
    elif not task.device.rankable:
        reason = "cpu: functional timing, not a GPU's"
    elif conditions is not None and (found := unranked_reason(conditions)):
        reason = found
    elif doubts := list(filter(None, map(linearity_doubt, measured))):
        reason = f"{doubts[0]}; grade again on a quiet machine"
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
    """The reason why a score is too wide to be ranked; empty if it is not."""
    widest = max(m.speedup.relative_half_width for m in measured)
    for half, allowed, where in (
        (speedup.relative_half_width, budget.max_ranked_rel_ci, "in all"),
        (widest, budget.max_ranked_shape_rel_ci, "on one shape"),
    ):
        if half > allowed:
            need = f"±{allowed:.1%} is needed"
            return f"noisy: ±{half:.1%} {where}, {need}; grade again on a quiet machine"
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
        torch=installed_version("torch") or "",
        triton=installed_version("triton") or "",
        driver=device.driver_version,
        toolkit=device.toolkit_version,
        sandbox=", ".join(layers),
    )
