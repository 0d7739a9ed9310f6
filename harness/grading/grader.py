"""Grading: build, check, measure, record. The straight line of docs/architecture.md."""

import contextlib
import os
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Self

from torch import OutOfMemoryError

from harness.device.exclusive import exclusive_timing
from harness.device.memory import CudaDevice, Device, crowded_out
from harness.device.monitor import GpuMonitor
from harness.errors import MachineError, ProblemError
from harness.grading.benchmark import Timing, benchmark_cases
from harness.grading.case_selection import correctness_cases
from harness.grading.duplicates import content_key, copy_for_duplicate
from harness.grading.head_to_head import common, head_to_head
from harness.grading.job import Job, Options, chosen_dtype
from harness.grading.lookahead import prefetch
from harness.grading.result_builder import ResultBuilder, make_score, solution_ref
from harness.grading.timing_ready import ReadyToTime
from harness.judge.cases import run_cases
from harness.judge.memcheck import is_memory_fault, locate
from harness.judge.profile import REMEDY, find_profiler, profile
from harness.judge.replay import FailingCase, patient, shrink_failure
from harness.judge.task import Task
from harness.languages import LANGUAGES
from harness.languages.build.cache import default_cache
from harness.problem.gradable import AnswerKey
from harness.problem.model import Problem
from harness.problem.sampling.cases import fresh_seed
from harness.progress.pace import Pace
from harness.progress.progress import Progress
from harness.records.comparison import Comparison
from harness.records.refs import SolutionRef
from harness.records.result import Result, Verdict
from harness.sandbox.pause_gate import PauseGate
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram, checked_program, timed_program
from harness.session.session import Session
from harness.solution.model import Artifact, BuildFailure, Invalid, Solution, Target
from harness.timing.budget import CPU_BUDGET, TimingBudget


class Grader:
    """Grades submissions one after the other on one device.

    What is worth keeping between them is kept: the baseline's runner, the machine's constant.
    Use as a context manager: no process of ours is left behind.
    """

    def __init__(
        self, device: Device, progress: Progress, budget: TimingBudget | None = None
    ) -> None:
        self._device = device
        self._progress = progress
        self._budget = budget or (TimingBudget() if device.kind == "cuda" else CPU_BUDGET)
        self._cache = default_cache()
        self._timing = Timing(device, progress)
        self._references: dict[Hashable, AnswerKey] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._timing.trusted.close()
        self._progress.finish()

    def grade_all(self, jobs: Sequence[Job], options: Options) -> Iterator[Result]:
        """The results of ``jobs``, in order, each as soon as it is there.

        Files are built side by side, some before their turn, and all of that stands still while a
        time is taken. Of those with the same content one is graded, and the others get its verdict
        and times.

        Raises:
            ProblemError, MachineError, HarnessError: not the contestant's doing.
        """
        # Not for files without code: they cost nothing but being read.
        if options.timed and any(isinstance(job.solution, Solution) for job in jobs):
            self._timing.trusted.start()
        builders = _builders()
        pool = ThreadPoolExecutor(builders)
        gate = PauseGate()
        begun: set[Hashable] = set()

        def start(job: Job) -> Future[Artifact | BuildFailure] | None:
            same = content_key(job)
            if same in begun:
                return None
            if same is not None:
                begun.add(same)
            return pool.submit(self._build_behind, gate, job, options, ahead=len(jobs) > 1)

        pace = Pace(len(jobs))
        often = Counter(map(content_key, jobs))
        graded: dict[Hashable, Result] = {}
        try:
            for number, (job, building) in enumerate(prefetch(jobs, start, 2 * builders)):
                if len(jobs) > 1:
                    self._progress.overall(number, len(jobs), pace.told(number))
                same = content_key(job)
                if building is None:
                    result = copy_for_duplicate(graded[same], job)
                else:
                    self._progress.phase("build")
                    draft = self._draft(job, options)
                    result = self._judge(building.result(), draft, options, gate)
                    if same is not None and often[same] > 1:
                        graded[same] = result
                yield result
        except BaseException:
            gate.end()  # nobody wants what is being built
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            self._progress.overall(len(jobs), len(jobs))

    def grade(self, job: Job, options: Options) -> Result:
        """The whole job for one submission; as :meth:`grade_all`."""
        return next(self.grade_all([job], options))

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        """Time two submissions to one problem in turns, if both are right.

        Both get the same seed and, unless ``options`` names one, the first data type that both
        are written for. The results of those that are not right are returned instead.

        Raises:
            ProblemError, MachineError, HarnessError: not the contestant's doing.
        """
        jobs = (first, second)
        options = common(jobs, options)
        drafts = [self._draft(job, options) for job in jobs]
        if self._device.kind == "cuda":  # for blank batches; elsewhere there are none
            self._timing.trusted.start()
        self._progress.phase("build", len(jobs))
        built = []
        for job in jobs:
            built.append(self._build(job, options))
            self._progress.advance()
        self._calibrate(PauseGate())
        with ExitStack() as sessions:
            ready: list[ReadyToTime] = []
            failed: list[Result] = []
            for artifact, draft in zip(built, drafts, strict=True):
                each = self._ready(artifact, draft, options, sessions)
                if isinstance(each, Result):
                    failed.append(each)
                else:
                    ready.append(each)
            if failed:
                return failed
            cases = benchmark_cases(drafts[0].task)
            a, b = ready
            with self._quiet() as watch:
                blank = self._timing.trusted.blank()
                budget = self._budget_of(options)
                outcome = head_to_head(a, b, cases, budget, blank, watch, self._progress)
            return [outcome] if isinstance(outcome, Result) else outcome

    def _budget_of(self, options: Options) -> TimingBudget:
        quick = options.quick and self._device.kind == "cuda"
        return self._budget.quick() if quick else self._budget

    # -- steps -----------------------------------------------------------------------------------

    def _draft(self, job: Job, options: Options) -> ResultBuilder:
        problem, solution = job.problem, job.solution
        seed = options.seed or fresh_seed()
        dtype = chosen_dtype(job, options)
        task = Task(problem, self._reference(problem), dtype, self._device, seed)
        if isinstance(solution, Invalid):
            nothing = SolutionRef(author="", name="", language="", hash="", path=job.path)
            about = solution.reference or nothing
            return ResultBuilder(task, about, reason=solution.reason, notes=list(job.notes))
        return ResultBuilder(task, solution_ref(solution), notes=list(job.notes))

    def _reference(self, problem: Problem) -> AnswerKey:
        """The problem's own code, loaded once."""
        key = problem.slug, problem.hash
        if key not in self._references:
            self._references[key] = problem.reference()
        return self._references[key]

    def _build(self, job: Job, options: Options, *, ahead: bool = False) -> Artifact | BuildFailure:
        solution, dtype = job.solution, chosen_dtype(job, options)
        if isinstance(solution, Invalid):
            return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=solution.message)
        if solution.dtypes is not None and dtype not in solution.dtypes:
            allowed = ", ".join(solution.dtypes)
            message = f"the file says it is written for {allowed}, not for {dtype}"
            return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=message)
        arch = options.arch
        if isinstance(self._device, CudaDevice):
            arch = "sm_{}{}".format(*self._device.capability)
        language = LANGUAGES[solution.language]
        target = Target(kind=self._device.kind, arch=arch, timed=options.timed, ahead=ahead)
        return language.build(solution, job.problem, dtype, target, self._cache)

    def _build_behind(
        self, gate: PauseGate, job: Job, options: Options, *, ahead: bool
    ) -> Artifact | BuildFailure:
        with gate.open():
            return self._build(job, options, ahead=ahead)

    def _judge(
        self,
        artifact: Artifact | BuildFailure,
        draft: ResultBuilder,
        options: Options,
        gate: PauseGate,
    ) -> Result:
        """The verdict on what was built and, behind the closed ``gate``, its times."""
        if options.timed and isinstance(artifact, Artifact):
            self._calibrate(gate)
        with ExitStack() as sessions:
            try:
                ready = self._ready(artifact, draft, options, sessions)
                if isinstance(ready, Result):
                    return ready
                budget = self._budget_of(options)
                with self._quiet() as watch, gate.closed(self._finishing):
                    measured = self._timing.measure(
                        ready, watch, budget, all_baselines=options.all_baselines
                    )
            except (MachineError, OutOfMemoryError) as error:
                error.__traceback__ = None  # its frames hold tensors of the judge's
                if crowded := crowded_out(self._device, sessions.close):
                    self._timing.trusted.renew()  # one of them may be what found no memory
                    return draft.finish(Verdict.MEMORY_LIMIT, crowded)
                if isinstance(error, MachineError):
                    raise
                raise MachineError(f"out of memory on {self._device.name}: {error}") from error
            if watch is not None:
                ready.draft.conditions = watch.conditions()
            if isinstance(measured, Fault):
                return draft.finish(measured.verdict, measured.message)
        known_seed = options.seed is not None
        score = make_score(
            draft.task,
            measured,
            budget,
            known_seed=known_seed,
            conditions=draft.conditions,
        )
        return draft.finish(Verdict.ACCEPTED, "", measured, score)

    def _calibrate(self, gate: PauseGate) -> None:
        """See what an idle device is like, once, and before anything that is submitted is there.

        Whoever leaves a kernel at work meanwhile would make a busy device look idle, for all files.
        """
        if not self._timing.trusted.calibrated:
            with self._quiet(), gate.closed(self._finishing):
                self._timing.trusted.blank()

    def _ready(
        self,
        artifact: Artifact | BuildFailure,
        draft: ResultBuilder,
        options: Options,
        sessions: ExitStack,
    ) -> ReadyToTime | Result:
        """What was built, checked and loaded to be timed; or the result, if that is all."""
        if isinstance(artifact, BuildFailure):
            draft.build = artifact.build
            return draft.finish(artifact.verdict, artifact.message)
        draft.build = artifact.build
        checked = checked_program(artifact)
        session = sessions.enter_context(self._session(checked, draft.task))
        fault = self._check(session, checked, draft, options)
        if fault is not None:
            draft.output = session.output()
            session.close()
            self._shrink(checked, draft, fault, options)
            where = self._locate(checked, draft, fault)
            return draft.finish(fault.verdict, fault.message + where)
        if not options.timed:
            if options.profile:
                session.close()
                self._profile(artifact, draft, options)
            return draft.finish(Verdict.ACCEPTED)

        fast = timed_program(artifact)

        def start() -> Session | Fault:
            fresh = sessions.enter_context(self._session(fast, draft.task))
            return fresh.load() or fresh

        first = session if fast == checked else start()
        if isinstance(first, Fault):
            return draft.finish(first.verdict, first.message)
        return ReadyToTime(draft, first, start)

    def _session(self, program: RunnerProgram, task: Task) -> Session:
        return Session(program, self._device, task.problem.limits)

    def _check(
        self, session: Session, program: RunnerProgram, draft: ResultBuilder, options: Options
    ) -> Fault | None:
        """Load the submission and run all cases; what they gave goes into the draft."""
        task = draft.task
        # While nothing that is submitted has run: memory that it takes makes no case smaller.
        cases = correctness_cases(task, options, interpreted=program.interpret)
        self._progress.phase("load")
        fault = session.load()
        draft.layers = session.layers
        if not session.isolated:
            draft.notes.append("not isolated: this machine allows no namespaces (harness doctor)")
        if fault is not None:
            return fault
        draft.drawn = tuple(cases)
        self._progress.phase("check", len(cases))
        outcome = run_cases(session, task, cases, self._progress.advance)
        draft.cases = outcome.cases
        return outcome.fault

    def _shrink(
        self, program: RunnerProgram, draft: ResultBuilder, fault: Fault, options: Options
    ) -> None:
        """Look for a smaller case that fails like the one that did, if any did."""
        if not draft.cases or draft.cases[-1].passed:
            return
        number = len(draft.cases) - 1
        task = draft.task
        failure = FailingCase(draft.drawn[number], number, fault.verdict)
        limits = patient(task.problem.limits)

        def start() -> Session | Fault:
            session = Session(program, self._device, limits)
            failed = session.load()
            if failed is not None:
                session.close()
            return failed or session

        self._progress.phase("shrink")
        with contextlib.suppress(MachineError, ProblemError):  # the verdict stands without it
            draft.shrunk = shrink_failure(task, failure, start, options.shrink_s)

    def _locate(self, program: RunnerProgram, draft: ResultBuilder, fault: Fault) -> str:
        """On a GPU, after an invalid access: where it was, as one more line of the message."""
        task, failed = draft.task, draft.cases[-1] if draft.cases else None
        if failed is None or failed.passed or not is_memory_fault(fault.message):
            return ""
        spec = draft.shrunk.case.spec if draft.shrunk else failed.spec
        self._progress.phase("locate")
        with contextlib.suppress(MachineError):  # the verdict stands without it
            report = locate(task, task.problem.parse_case(spec), program)
            return f"\n{report}" if report else ""
        return ""

    def _profile(self, artifact: Artifact, draft: ResultBuilder, options: Options) -> None:
        """Profile one call, of the case that was named or the first timed shape.

        The verdict stands, whatever comes of it.

        Raises:
            MachineError: there is no tool, or no room for the shape.
        """
        task = draft.task
        tool = find_profiler()
        if tool is None:
            raise MachineError(REMEDY)
        named = options.case and task.problem.parse_case(options.case)
        case = named or benchmark_cases(task)[0]
        self._progress.phase(f"profile {case.spec}")
        with self._quiet():
            outcome = profile(task, case, timed_program(artifact), tool)
        if isinstance(outcome, str):
            draft.notes.append(f"no profile: {outcome}")
        else:
            draft.profile = outcome

    def _quiet(self) -> AbstractContextManager[GpuMonitor | None]:
        """The device to ourselves."""
        return exclusive_timing(self._device, self._waiting)

    def _finishing(self) -> None:
        self._progress.phase("wait for builds")

    def _waiting(self, seconds: float) -> None:
        self._progress.phase(f"wait for the GPU, {seconds:.0f} s")


def _builders() -> int:
    """How many files are built side by side: there is room left for the one that is graded."""
    return max(1, (os.cpu_count() or 1) * 3 // 4)
