"""Two submissions head to head: timed in turns with each other instead of with a baseline.

What both share (the machine, its clock rate, the inputs) cancels in their ratio, which shows
differences that two separate grades cannot. Nothing is stored. Audits that need a trusted baseline
are not made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harness.device.base import Exclusive, Monitor
from harness.device.monitor import unsettled
from harness.errors import UsageError
from harness.grading.benchmark import ReadyToTime, on_block
from harness.grading.job import Job, Options
from harness.grading.result_builder import ResultBuilder, TimedFault, environment
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.cases import fresh_seed
from harness.progress.progress import Progress
from harness.records.comparison import Comparison, Shape
from harness.records.measurement import Conditions, Measurement
from harness.records.refs import DeviceRef, ProblemRef
from harness.sandbox import leftovers
from harness.session.fault import Fault
from harness.solution.model import Solution
from harness.timing.audit import IdleBaseline, find_busy_session
from harness.timing.budget import TimingBudget
from harness.timing.clocks import clock_note
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.measure import measure_shape
from harness.timing.statistics import geometric_mean
from harness.timing.timed_program import Pair, TimedProgram, prepare_for_timing

_NAMES = ("A", "B")


def common(jobs: Sequence[Job], options: Options) -> Options:
    """``options`` with a seed, and the first data type that both jobs are written for.

    If there is none, the problem's first, for which one of them is then refused.

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
    dtype = options.dtype or next(fits, problem.dtypes[0])
    return replace(options, dtype=dtype, seed=options.seed or fresh_seed())


@dataclass(frozen=True, slots=True)
class Lost:
    """Submission number ``which`` of the two failed while it was timed."""

    which: int
    failed: TimedFault


def head_to_head(
    tasks: Sequence[Task],
    ready: tuple[ReadyToTime, ReadyToTime],
    cases: Sequence[Case],
    budget: TimingBudget,
    overhead: OverheadProbe | None,
    held: Exclusive,
    progress: Progress,
) -> tuple[Shape, ...] | Lost:
    """Time A and B in turns in all ``cases``, the outputs of both checked.

    ``tasks`` are the same but for what each has of weights.

    Raises:
        MachineError: no time can be taken on this machine now.
    """
    # Isolated calls are held against a trusted baseline's, of which there is none here.
    budget = replace(budget, isolated_blocks=0).for_shapes(len(cases))
    idle = overhead.idle if overhead else IdleBaseline()
    programs: list[TimedProgram] = []
    try:
        for which, each in enumerate(ready):
            program = prepare_for_timing(
                each.session,
                each.restart,
                tasks[which],
                cases[0],
                name=_NAMES[which],
                cpu=held.runner_cpu,
                idle=idle,
                monitor=held.monitor,
            )
            if isinstance(program, Fault):
                return Lost(which, TimedFault(program))
            programs.append(program)
        a, b = programs
        task, shapes = tasks[0], []
        for case in cases:
            progress.phase(f"time {case.spec}", budget.max_blocks)
            after_block = on_block(progress, held)
            outcome = measure_shape(task, case, b, a, budget, overhead, after_block)
            # B was measured as the submission, whose monitor was asked; A's is still to be.
            fault = outcome if isinstance(outcome, Fault) else a.idle_fault()
            if fault is not None:
                return _lost((a, b), task, case, fault, idle, held.monitor)
            if isinstance(outcome, Measurement):
                shapes.append(_shape(outcome, (a, b)))
        return tuple(shapes)
    finally:
        for program in programs:
            program.release()


def _lost(
    pair: Pair,
    task: Task,
    case: Case,
    fault: Fault,
    idle: IdleBaseline,
    monitor: Monitor | None,
) -> Lost:
    """Who lost by ``fault``; if both are suspects, the one without which the device is idle."""
    which = 0 if fault.whose == _NAMES[0] else 1
    if fault.shared:
        suspects = (which, 1 - which)
        sessions = [pair[suspect].session for suspect in suspects]
        which = suspects[find_busy_session(sessions, task.device, idle, monitor)]
    return Lost(which, TimedFault(fault, case, pair[which].session.output()))


def _shape(measured: Measurement, pair: Pair) -> Shape:
    a, b = pair  # measured as the baseline and the submission
    return Shape(
        spec=measured.spec,
        a_s=measured.baseline_s,
        b_s=measured.time_s,
        ratio=measured.speedup,
        a_captured=a.captured,
        b_captured=b.captured,
        a_samples_s=measured.baseline_samples_s,
        b_samples_s=measured.samples_s,
        clocks=measured.clocks,
    )


def comparison(
    a: ResultBuilder, b: ResultBuilder, shapes: Sequence[Shape], conditions: Conditions | None
) -> Comparison:
    """The record of two submissions that were timed under ``conditions``."""
    task, problem = a.task, a.task.problem
    disturbed = unsettled(conditions) if conditions else ""
    clock_notes = (clock_note(shape.spec, shape.clocks, ("B", "A")) for shape in shapes)
    notes = list(filter(None, (disturbed, *leftovers.notes(), *clock_notes)))
    captured = zip(*((shape.a_captured, shape.b_captured) for shape in shapes), strict=True)
    for name, builder, each in zip(_NAMES, (a, b), captured, strict=True):
        notes += [f"{name}: {note}" for note in builder.notes]
        if task.device.captures_graphs and not all(each):
            notes.append(f"{name}: cannot be captured in a CUDA graph: timed as plain calls")
    return Comparison(
        created=datetime.now(UTC),
        problem=ProblemRef(slug=problem.slug, title=problem.title, hash=problem.hash),
        dtype=task.dtype,
        device=DeviceRef(kind=task.device.kind, name=task.device.name),
        seed=task.seed,
        a=a.solution,
        b=b.solution,
        shapes=tuple(shapes),
        ratio=geometric_mean([shape.ratio for shape in shapes]),
        notes=tuple(notes),
        environment=environment(task.device, a.layers),
    )
