"""Grading one submission: build, check, measure, record. The straight line of docs/design.md."""

import platform
import secrets
import shlex
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Self

from harness import __version__
from harness.errors import NoDeviceError
from harness.judge.calibrate import calibration_problem, measure_overhead
from harness.judge.cases import run_cases
from harness.judge.measure import CPU_EFFORT, Contender, Effort, join, measure_shape
from harness.judge.memory import CudaDevice, Device
from harness.judge.programs import checked_program, source_program, timed_program
from harness.judge.session import Fault, Program, Session
from harness.judge.statistics import geometric_mean
from harness.judge.task import Task
from harness.problem.draws import Case, benchmark_case, draw_cases, fresh_seed, parse_case
from harness.problem.model import Problem
from harness.problem.reference import Reference
from harness.report.progress import Progress
from harness.result import (
    Build,
    CaseResult,
    DeviceRef,
    Environment,
    Measurement,
    ProblemRef,
    Result,
    Score,
    SolutionRef,
    Verdict,
)
from harness.solution.cache import default_cache
from harness.solution.languages import LANGUAGES
from harness.solution.model import Artifact, BuildFailure, Invalid, Solution, Target

_CPU_WORK = 4e6
"""Operations of one correctness case on the CPU path: a fraction of a second in an interpreter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user may choose for a grade.

    ``seed`` and ``case`` replay; ``timing`` is off for a verdict alone.
    """

    dtype: str | None = None
    seed: str | None = None
    case: str | None = None
    timing: bool = True
    arch: str = "sm_90"


@dataclass(slots=True)
class Draft:
    """What is known of a result so far."""

    problem: Problem
    solution: Solution
    task: Task
    environment: Environment
    build: Build | None = None
    cases: tuple[CaseResult, ...] = ()
    output: str = ""
    notes: list[str] = field(default_factory=list)

    def finish(
        self,
        verdict: Verdict,
        message: str = "",
        measurements: tuple[Measurement, ...] = (),
        score: Score | None = None,
    ) -> Result:
        """The finished record."""
        solution, task = self.solution, self.task
        return Result(
            id=secrets.token_hex(16),
            created=datetime.now(UTC),
            problem=ProblemRef(
                slug=self.problem.slug, title=self.problem.title, hash=self.problem.hash
            ),
            solution=SolutionRef(
                author=solution.author,
                name=solution.name,
                language=solution.language,
                hash=solution.hash,
                path=solution.display_path,
            ),
            language=solution.language,
            dtype=task.dtype,
            device=DeviceRef(kind=task.device.kind, name=task.device.name),
            verdict=verdict,
            message=message,
            reproduce=self._reproduce() if verdict is not Verdict.ACCEPTED else "",
            seed=task.seed,
            cases=self.cases,
            build=self.build,
            measurements=measurements,
            score=score,
            output=self.output,
            notes=tuple(self.notes),
            environment=self.environment,
        )

    def _reproduce(self) -> str:
        failed = next((case for case in self.cases if not case.passed), None)
        if failed is None:
            return ""
        task = self.task
        return (
            f"harness submit {shlex.quote(self.solution.display_path)} "
            f"--problem {self.problem.slug} --dtype {task.dtype} --device {task.device.kind} "
            f"--case {shlex.quote(failed.spec)} --seed {task.seed}"
        )


class Grader:
    """Grades submissions one after the other on one device; baselines are kept warm between.

    Use as a context manager: no process of ours is left behind.
    """

    def __init__(self, device: Device, progress: Progress, effort: Effort | None = None) -> None:
        self._device = device
        self._progress = progress
        self._effort = effort or (Effort() if device.kind == "cuda" else CPU_EFFORT)
        self._cache = default_cache()
        self._threads = ThreadPoolExecutor(1)
        self._trusted: Future[Session] | None = None
        self._baseline_of: tuple[str, str] | None = None
        self._overhead_s: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=True)
        if self._trusted is not None and self._trusted.exception() is None:
            self._trusted.result().close()
        self._progress.finish()

    def grade(self, solution: Solution, problem: Problem, options: Options) -> Result:
        """The whole job for one submission. What it does wrong is in the result's verdict.

        Raises:
            ProblemError, MachineError, HarnessError: not the contestant's doing.
        """
        dtype = options.dtype or _default_dtype(solution, problem)
        seed = options.seed or fresh_seed()
        task = Task(problem, Reference(problem), dtype, self._device, seed)
        draft = Draft(problem, solution, task, _environment(self._device))
        if options.timing and not options.case and self._trusted is None:
            self._trusted = self._threads.submit(self._start_trusted, task)

        self._progress.phase("build")
        artifact = self._build(solution, task, options)
        if isinstance(artifact, BuildFailure):
            draft.output = artifact.log
            return draft.finish(artifact.verdict, artifact.message)
        draft.build = artifact.build
        return self._judge(artifact, draft, options)

    def refuse(self, path: str, problem: Problem, invalid: Invalid, options: Options) -> Result:
        """The record of a file that cannot be taken as a submission at all."""
        solution = Solution(
            path=Path(path),
            display_path=path,
            source=b"",
            text="",
            author="",
            name="",
            problem=problem.slug,
            language="",
            hash="",
            dtypes=None,
        )
        dtype = options.dtype or problem.dtypes[0]
        task = Task(problem, Reference(problem), dtype, self._device, options.seed or fresh_seed())
        draft = Draft(problem, solution, task, _environment(self._device))
        return draft.finish(Verdict.INVALID_SUBMISSION, invalid.message)

    # -- steps -----------------------------------------------------------------------------------

    def _build(self, solution: Solution, task: Task, options: Options) -> Artifact | BuildFailure:
        if solution.dtypes is not None and task.dtype not in solution.dtypes:
            allowed = ", ".join(solution.dtypes)
            return BuildFailure(
                verdict=Verdict.INVALID_SUBMISSION,
                message=f"the file says it is written for {allowed}, not for {task.dtype}",
            )
        arch = options.arch
        if isinstance(self._device, CudaDevice):
            arch = "sm_{}{}".format(*self._device.capability)
        language = LANGUAGES[solution.language]
        target = Target(kind=self._device.kind, arch=arch)
        return language.build(solution, task.problem, task.dtype, target, self._cache)

    def _judge(self, artifact: Artifact, draft: Draft, options: Options) -> Result:
        timed = options.timing and not options.case
        checked, fast = checked_program(artifact), timed_program(artifact)
        with ExitStack() as sessions:
            session = sessions.enter_context(self._session(checked, draft.task))
            fault = self._check(session, draft, options)
            if fault is not None:
                draft.output = session.output()
                return draft.finish(fault.verdict, fault.message)
            if not timed:
                return draft.finish(Verdict.ACCEPTED)

            def start() -> Session | Fault:
                fresh = sessions.enter_context(self._session(fast, draft.task))
                return fresh.load() or fresh

            first = session if fast == checked else start()
            measured = first if isinstance(first, Fault) else self._measure(first, start, draft)
            if isinstance(measured, Fault):
                return draft.finish(measured.verdict, measured.message)
        score = make_score(draft.task, measured, self._effort)
        return draft.finish(Verdict.ACCEPTED, "", measured, score)

    def _session(self, program: Program, task: Task) -> Session:
        return Session(program, self._device, task.problem.limits)

    def _check(self, session: Session, draft: Draft, options: Options) -> Fault | None:
        """Load the submission and run all cases; what they gave goes into the draft."""
        task = draft.task
        self._progress.phase("load")
        fault = session.load()
        draft.environment = draft.environment.model_copy(
            update={"sandbox": ", ".join(session.layers)}
        )
        if fault is not None:
            return fault
        cases = self._cases(task, options)
        self._progress.phase("check", len(cases))
        outcome = run_cases(session, task, cases, self._progress.advance)
        draft.cases = outcome.cases
        return outcome.fault

    def _cases(self, task: Task, options: Options) -> list[Case]:
        if options.case:
            return [parse_case(task.problem, options.case)]
        max_work = _CPU_WORK if task.device.kind == "cpu" else None
        return draw_cases(task.problem, task.seed, dtype=task.dtype, max_work=max_work)

    def _measure(
        self, session: Session, restart: Callable[[], Session | Fault], draft: Draft
    ) -> tuple[Measurement, ...] | Fault:
        """Time all benchmark shapes, interleaved with the baseline."""
        task = draft.task
        cuda = task.device.kind == "cuda"
        self._progress.phase("baseline")
        trusted = self._ready_baseline(task)
        problem = task.problem
        benchmarks = problem.benchmarks if cuda else problem.cpu_benchmarks
        cases = [benchmark_case(problem, benchmark) for benchmark in benchmarks]
        submission = join(session, restart, task, cases[0])
        if isinstance(submission, Fault):
            return submission
        if cuda and not submission.capture:
            draft.notes.append("cannot be captured in a CUDA graph: timed as plain calls")
        baseline = Contender(trusted, task, trusted=True, capture=cuda)
        measurements: list[Measurement] = []
        overhead_s = self._overhead_s or 0.0
        try:
            for case in cases:
                self._progress.phase(f"time {case.spec}", self._effort.max_blocks)
                measured = measure_shape(
                    task, case, submission, baseline, self._effort, overhead_s,
                    self._progress.advance,
                )  # fmt: skip
                if isinstance(measured, Fault):
                    return measured
                measurements.append(measured)
            return tuple(measurements)
        finally:
            submission.release()
            baseline.release()

    # -- the trusted runner ----------------------------------------------------------------------

    def _start_trusted(self, task: Task) -> Session:
        """Start the baseline's runner with the calibration kernel; imports torch meanwhile."""
        session = Session(
            _trusted_program(calibration_problem()), self._device, task.problem.limits
        )
        fault = session.load()
        if fault is not None:
            text = f"{fault.message}\n{session.output()}"
            session.close()
            raise NoDeviceError(f"the baseline's runner does not start: {text}")
        return session

    def _ready_baseline(self, task: Task) -> Session:
        """Calibrate once per machine, load the problem's baseline once per problem and type."""
        assert self._trusted is not None
        session = self._trusted.result()
        if self._overhead_s is None:
            self._overhead_s = measure_overhead(session, calibration_problem(), self._device)
        wanted = (task.problem.hash, task.dtype)
        if self._baseline_of != wanted:
            fault = session.load(_trusted_program(task.problem))
            if fault is not None:
                raise NoDeviceError(f"the baseline of {task.problem.slug} fails: {fault.message}")
            self._baseline_of = wanted
        return session


def _trusted_program(problem: Problem) -> Program:
    """The first baseline of a problem: a solution file of the package itself."""
    file = next(iter(problem.baselines.values()))
    return source_program(file.read_bytes())


def make_score(task: Task, measured: tuple[Measurement, ...], effort: Effort) -> Score:
    """Geometric means over the shapes, and whether the result can be ranked."""
    reason = ""
    if task.device.kind == "cpu":
        reason = "cpu: functional timing, not a GPU's"
    else:
        worst = max(m.speedup.high / m.speedup.value - 1 for m in measured)
        if worst > effort.wide:
            reason = f"noisy: ±{worst:.1%} on one shape, ±{effort.wide:.1%} is needed; grade again"
    return Score(
        baseline=next(iter(task.problem.baselines)),
        speedup=geometric_mean([m.speedup for m in measured]),
        time_s=geometric_mean([m.time_s for m in measured]).value,
        ranked=not reason,
        unranked_reason=reason,
    )


def _default_dtype(solution: Solution, problem: Problem) -> str:
    """The problem's first type that the file is written for."""
    for dtype in problem.dtypes:
        if solution.dtypes is None or dtype in solution.dtypes:
            return dtype
    return problem.dtypes[0]


def _environment(device: Device) -> Environment:
    return Environment(
        harness=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        torch=_version("torch"),
        triton=_version("triton"),
        driver=device.driver_version,
        toolkit=device.toolkit_version,
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
