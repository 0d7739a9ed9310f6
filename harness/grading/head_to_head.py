"""Two submissions head to head: timed in turns with each other instead of with a baseline.

What both have in common (the machine, its clock rate, the inputs) falls out of their ratio, so
small differences show that two grades, one after the other, cannot tell. Nothing is stored: the
outcome is no entry on a board. Of the audits of time, those that need a trusted baseline are not
made here.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from harness.device.monitor import GpuMonitor, unsettled
from harness.errors import UsageError
from harness.grading.job import Job, Options
from harness.grading.live import so_far
from harness.grading.result_builder import environment
from harness.grading.timing_ready import ReadyToTime
from harness.problem.case import Case
from harness.problem.sampling.cases import fresh_seed
from harness.progress.progress import Progress
from harness.records.comparison import Comparison, Shape
from harness.records.measurement import Measurement
from harness.records.refs import DeviceRef, ProblemRef
from harness.records.result import Result
from harness.session.fault import Fault
from harness.solution.model import Solution
from harness.timing.audit import IdleBaseline, find_busy_session
from harness.timing.budget import TimingBudget
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.measure import Samples, measure_shape
from harness.timing.statistics import geometric_mean
from harness.timing.timed_program import TimedProgram, prepare_for_timing


def common(jobs: Sequence[Job], options: Options) -> Options:
    """``options`` with what both jobs share: a seed, and a data type that both are written for.

    Without such a type the problem's first one is taken, for which one of them is then refused.

    Raises:
        UsageError: the jobs are for different problems.
    """
    problem = jobs[0].problem
    for job in jobs:
        if job.problem.slug != problem.slug:
            raise UsageError(
                f"A is for {problem.slug}, B for {job.problem.slug}: only submissions to one "
                "problem can be compared"
            )
    headers = [job.solution.dtypes for job in jobs if isinstance(job.solution, Solution)]
    fits = (d for d in problem.dtypes if all(own is None or d in own for own in headers))
    return replace(
        options,
        dtype=options.dtype or next(fits, problem.dtypes[0]),
        seed=options.seed or fresh_seed(),
    )


def head_to_head(
    a: ReadyToTime,
    b: ReadyToTime,
    cases: Sequence[Case],
    budget: TimingBudget,
    blank: OverheadProbe | None,
    watch: GpuMonitor | None,
    progress: Progress,
) -> Comparison | Result:
    """Time A and B in turns in all ``cases``, the outputs of both checked.

    Returns:
        The comparison; or the result of the one that failed while it was timed.

    Raises:
        MachineError: neither is what keeps the device at work.
    """
    task = a.draft.task
    # A call alone is judged by the baseline's, which is honest: here neither is known to be.
    budget = replace(budget, isolated_blocks=0)
    sides: list[_Side] = []

    def told(samples: Samples) -> None:
        progress.advance(note=lambda: so_far(*samples))
        if watch is not None:
            watch.read()

    usual = blank.usual if blank else IdleBaseline()
    try:
        for ready in (a, b):
            joined = prepare_for_timing(ready.session, ready.restart, task, cases[0], usual)
            if isinstance(joined, Fault):
                return ready.draft.finish(joined.verdict, joined.message)
            sides.append(_Side(joined))
        shapes = []
        for case in cases:
            progress.phase(f"time {case.spec}", budget.max_blocks)
            outcome = measure_shape(
                task,
                case,
                sides[1],
                sides[0],
                budget,
                blank,
                told,
            )
            fault = outcome if isinstance(outcome, Fault) else sides[0].idle_fault()
            if fault is not None:
                loser = 0 if sides[0].failed else 1
                if fault.shared:
                    suspects = (loser, 1 - loser)
                    ended = [sides[which].session for which in suspects]
                    loser = suspects[find_busy_session(ended, task.device, usual)]
                return _lost((a, b)[loser], sides[loser], case, fault)
            assert isinstance(outcome, Measurement)
            shapes.append(_shape(outcome, sides))
    finally:
        for side in sides:
            side.release()
    return _comparison(a, b, shapes, _unsettled(watch))


def _unsettled(watch: GpuMonitor | None) -> str:
    conditions = watch.conditions() if watch is not None else None
    return unsettled(conditions) if conditions is not None else ""


class _Side(TimedProgram):
    """A contender that remembers having failed: the fault of a measurement names neither."""

    def __init__(self, joined: TimedProgram) -> None:
        vars(self).update(vars(joined))  # the arena is one's own already
        self.failed = False

    def setup(self, case: Case, calls: int, **how: Any) -> Fault | None:
        fault = super().setup(case, calls, **how)
        self.failed = fault is not None
        return fault

    def time(self, seed: str, **how: Any) -> float | Fault:
        seconds = super().time(seed, **how)
        self.failed = isinstance(seconds, Fault)
        return seconds

    def started_early_fault(self) -> Fault | None:
        fault = super().started_early_fault()
        self.failed = fault is not None
        return fault

    def idle_fault(self) -> Fault | None:
        fault = super().idle_fault()
        self.failed = fault is not None
        return fault


def _lost(ready: ReadyToTime, side: TimedProgram, case: Case, fault: Fault) -> Result:
    """The result of a submission that was right until it was timed."""
    draft = ready.draft
    draft.output = side.session.output()
    draft.fail_timed(case, fault)
    return draft.finish(fault.verdict, fault.message)


def _shape(measured: Measurement, sides: Sequence[TimedProgram]) -> Shape:
    """B was measured as the submission, A as the baseline."""
    return Shape(
        spec=measured.spec,
        a_s=measured.baseline_s,
        b_s=measured.time_s,
        ratio=measured.speedup,
        a_captured=sides[0].captured,
        b_captured=sides[1].captured,
        a_samples_s=measured.baseline_samples_s,
        b_samples_s=measured.samples_s,
    )


def _comparison(a: ReadyToTime, b: ReadyToTime, shapes: Sequence[Shape], found: str) -> Comparison:
    task = a.draft.task
    notes = [found] if found else []
    for name, ready, captured in (
        ("A", a, all(shape.a_captured for shape in shapes)),
        ("B", b, all(shape.b_captured for shape in shapes)),
    ):
        notes += [f"{name}: {note}" for note in ready.draft.notes]
        if task.device.kind == "cuda" and not captured:
            notes.append(f"{name}: cannot be captured in a CUDA graph: timed as plain calls")
    problem = task.problem
    return Comparison(
        created=datetime.now(UTC),
        problem=ProblemRef(slug=problem.slug, title=problem.title, hash=problem.hash),
        dtype=task.dtype,
        device=DeviceRef(kind=task.device.kind, name=task.device.name),
        seed=task.seed,
        a=a.draft.solution,
        b=b.draft.solution,
        shapes=tuple(shapes),
        ratio=geometric_mean([shape.ratio for shape in shapes]),
        notes=tuple(notes),
        environment=environment(task.device, a.draft.layers),
    )
