"""How long the judge says that a rung takes, and what another process needs to call it the same."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.ladder.rungs import Rung
from harness.device.base import Device, Exclusive
from harness.errors import MachineError
from harness.grading.benchmark import on_block
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.judge.batch import Batch
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.languages.read import read_solution
from harness.problem.case import Case, whole_case
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.reference import Reference
from harness.progress.progress import NoProgress
from harness.records.measurement import Measurement
from harness.session.fault import Fault
from harness.session.programs import timed_program
from harness.session.session import Session
from harness.solution.model import Artifact, BuildFailure, Invalid
from harness.timing.audit import IdleBaseline
from harness.timing.budget import TimingBudget
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.measure import measure_shape
from harness.timing.timed_program import TimedProgram, prepare_for_timing

T = TypeVar("T")


def built(grader: Grader, file: Path, problem: Problem, dtype: str) -> Artifact:
    """The build of a file of ours.

    Raises:
        MachineError: it does not build here.
    """
    solution = read_solution(file, problem=problem.slug)
    if isinstance(solution, Invalid):
        raise MachineError(solution.message)
    job = Job(path=file.name, solution=solution, problem=problem)
    artifact = grader.build(job, Options(dtype=dtype))
    if isinstance(artifact, BuildFailure):
        raise MachineError(artifact.message)
    return artifact


def time_rung(
    grader: Grader,
    device: Device,
    rung: Rung,
    budget: TimingBudget,
    overhead: OverheadProbe | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The row of a table, and the build, arguments and number of calls for an honest process.

    Raises:
        MachineError: it does not build or run here.
    """
    problem = load_problem(rung.problem)
    task = Task(problem, Reference(problem), "float32", device, "ladder")
    artifact = built(grader, rung.file, problem, task.dtype)
    case = whole_case(problem, dict(rung.values))
    with device.exclusive(lambda _: None) as held:
        measured = _measured(grader, artifact, task, case, held, budget, overhead)
    conditions = held.monitor.conditions() if held.monitor is not None else None
    row = {
        "kind": rung.kind,
        "kernel": rung.name,
        "calls": measured.calls_per_batch,
        "captured": measured.captured,
        "kernels": measured.kernels,
        "ours_s": measured.time_s.value,
        "low_s": measured.time_s.low,
        "high_s": measured.time_s.high,
        "clock_mhz": conditions.clock_mhz if conditions is not None else None,
    }
    return row, _honest_call(artifact, rung.file, task, case, measured.calls_per_batch)


def _measured(
    grader: Grader,
    artifact: Artifact,
    task: Task,
    case: Case,
    held: Exclusive,
    budget: TimingBudget,
    overhead: OverheadProbe | None,
) -> Measurement:
    """The rung's times beside the baseline's, as a grade takes them."""
    device, limits = task.device, task.problem.limits
    with ExitStack() as sessions:

        def start() -> Session | Fault:
            session = sessions.enter_context(Session(timed_program(artifact), device, limits))
            return session.load() or session

        session = _or_raise(start())
        idle = overhead.idle if overhead else IdleBaseline()
        program = _or_raise(
            prepare_for_timing(session, start, task, case, cpu=held.runner_cpu, idle=idle)
        )
        sessions.callback(program.release)
        baseline = TimedProgram(
            grader.benchmark.trusted.baseline(task),
            task,
            name="baseline",
            trusted=True,
            capture=device.captures_graphs,
            cpu=held.runner_cpu,
        )
        sessions.callback(baseline.release)
        on_each = on_block(NoProgress(), held)
        return _or_raise(measure_shape(task, case, program, baseline, budget, overhead, on_each))


def _or_raise(outcome: T | Fault) -> T:
    if isinstance(outcome, Fault):
        raise MachineError(outcome.message)
    return outcome


def _honest_call(
    artifact: Artifact, file: Path, task: Task, case: Case, calls: int
) -> dict[str, Any]:
    """What an honest process needs to make the same calls."""
    layout = lay_out(task, case, calls)
    with closing(task.device.arena(layout.size)) as arena:
        arguments = Batch(task, case, arena, layout.calls, checked=False).arguments()
    library = artifact.library
    return {
        "library": str(library) if library else None,
        "source": None if library else str(file.resolve()),
        "arguments": [argument.to_json() for argument in arguments],
        "calls": layout.calls,
        "bytes": layout.size,
    }
