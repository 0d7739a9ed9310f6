"""Grades submissions one after the other: build, check, measure, record.

docs/explanation/architecture.md walks along this line.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from types import TracebackType
from typing import Self

from torch import OutOfMemoryError

from harness.device.base import Device, Exclusive, crowded_out
from harness.device.monitor import unsettled
from harness.errors import MachineError, ProblemError
from harness.grading.benchmark import Benchmark, ReadyToTime, TimedFault, benchmark_cases
from harness.grading.builds import Builds, Built
from harness.grading.case_selection import correctness_cases
from harness.grading.duplicates import content_key, copy_for_duplicate
from harness.grading.head_to_head import Lost, common, comparison, head_to_head
from harness.grading.job import Job, Options, chosen_dtype
from harness.grading.result_builder import ResultBuilder, make_score, solution_ref
from harness.judge.cases import run_cases
from harness.judge.memcheck import is_memory_fault, locate
from harness.judge.profile import REMEDY, find_profiler, profile
from harness.judge.replay import FailingCase, patient, shrink_failure
from harness.judge.task import Task
from harness.languages import LANGUAGES
from harness.languages.base import Language
from harness.languages.build.cache import Cache, default_cache
from harness.problem.gradable import AnswerKey, Gradable
from harness.problem.model import Limits, Problem
from harness.problem.sampling.cases import fresh_seed
from harness.progress.progress import Pace, Progress
from harness.records.comparison import Comparison
from harness.records.measurement import Measurement
from harness.records.refs import SolutionRef
from harness.records.result import Result, Verdict
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram, checked_program, timed_program
from harness.session.session import Session
from harness.solution.model import Artifact, BuildFailure, Invalid, Solution, Target
from harness.timing.budget import TimingBudget, budget_for


class Grader:
    """Grades submissions on one device; use as a context manager, which leaves no process behind.

    What is worth keeping between submissions is kept: the baseline's runner, the launch overhead.

    Args:
        device: where submissions run.
        progress: told of every phase.
        budget: how long to measure; by default what suits the device.
        languages: builds submissions, by the name of their language.
        builders: files built side by side; by default what suits the machine.
        build_cache: keeps what was built; by default the user's.
        benchmark: takes times; by default one for ``device``.
        reference: the reference of a problem; by default its own code, loaded once.
        open_session: starts a runner with a submission's program.
    """

    def __init__(
        self,
        device: Device,
        progress: Progress,
        *,
        budget: TimingBudget | None = None,
        languages: Mapping[str, Language] = LANGUAGES,
        builders: int | None = None,
        build_cache: Cache | None = None,
        benchmark: Benchmark | None = None,
        reference: Callable[[Problem], AnswerKey] | None = None,
        open_session: Callable[[RunnerProgram, Device, Limits], Session] = Session,
    ) -> None:
        self._device = device
        self._progress = progress
        self._base_budget = budget
        self._languages = languages
        self._builders = builders
        self._cache = build_cache or default_cache()
        self.benchmark = benchmark or Benchmark(device, progress)
        self._reference = reference or loaded_once()
        self._open_session = open_session

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.benchmark.trusted.close()
        self._progress.finish()

    def grade_all(self, jobs: Sequence[Job], options: Options) -> Iterator[Result]:
        """The results of ``jobs``, in order, each as soon as it is there.

        Files are built side by side, some before their turn, and all of that is paused while a
        time is taken. Of those with the same content one is graded, and the others get its verdict
        and times.

        Raises:
            ProblemError, MachineError, HarnessError: not the contestant's doing.
        """
        # Not for files without code: they cost nothing but being read.
        if options.timed and any(isinstance(job.solution, Solution) for job in jobs):
            self.benchmark.trusted.start()
        build = partial(self.build, options=options, ahead=len(jobs) > 1)
        graded: dict[Hashable, Result] = {}
        pace = Pace(len(jobs))
        try:
            with Builds(build, self._builders) as builds:
                for number, (job, building, wanted_again) in enumerate(builds.of(jobs)):
                    if len(jobs) > 1:
                        self._progress.overall(number, len(jobs), pace.summary(number))
                    key = content_key(job)
                    if building is None:
                        result = copy_for_duplicate(graded[key], job)
                    else:
                        self._progress.phase("build")
                        draft = self._draft(job, options)
                        result = self._judge(building.result(), draft, options, builds)
                        if wanted_again:
                            graded[key] = result
                    yield result
        finally:
            self._progress.overall(len(jobs), len(jobs))

    def grade(self, job: Job, options: Options) -> Result:
        """The result of one submission; as :meth:`grade_all`."""
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
        if self._device.captures_graphs:  # launch overhead is measured; elsewhere it is not
            self.benchmark.trusted.start()
        self._progress.phase("build", len(jobs))
        built = []
        for job in jobs:
            built.append(self.build(job, options))
            self._progress.advance()
        self._calibrate(contextlib.nullcontext())
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
            return self._head_to_head((ready[0], ready[1]), drafts, options)

    def _head_to_head(
        self, ready: tuple[ReadyToTime, ReadyToTime], drafts: list[ResultBuilder], options: Options
    ) -> Comparison | list[Result]:
        task = drafts[0].task
        cases = benchmark_cases(task)
        with self._exclusive() as held:
            overhead = self.benchmark.trusted.overhead(held.runner_cpu)
            budget = self._budget(options)
            outcome = head_to_head(task, ready, cases, budget, overhead, held, self._progress)
            if isinstance(outcome, Lost):
                return [self._failed_timing(drafts[outcome.which], outcome.failed)]
            conditions = held.monitor.conditions() if held.monitor else None
        found = unsettled(conditions) if conditions is not None else ""
        return comparison(drafts[0], drafts[1], outcome, found)

    def _budget(self, options: Options) -> TimingBudget:
        return budget_for(self._device, quick=options.quick, base=self._base_budget)

    # -- steps -----------------------------------------------------------------------------------

    def _draft(self, job: Job, options: Options) -> ResultBuilder:
        problem, solution = job.problem, job.solution
        seed = options.seed or fresh_seed()
        dtype = chosen_dtype(job, options)
        task = Task(problem, self._reference(problem), dtype, self._device, seed)
        if isinstance(solution, Invalid):
            unknown = SolutionRef(author="", name="", language="", hash="", path=job.path)
            about = solution.reference or unknown
            return ResultBuilder(task, about, reason=solution.reason, notes=list(job.notes))
        return ResultBuilder(task, solution_ref(solution), notes=list(job.notes))

    def build(self, job: Job, options: Options, *, ahead: bool = False) -> Built:
        """The build of a submission, or why there is none; from the cache if it is there.

        ``ahead``: other files are graded meanwhile, so what a first call would compile is compiled
        now, beside them.
        """
        solution, dtype = job.solution, chosen_dtype(job, options)
        if isinstance(solution, Invalid):
            return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=solution.message)
        if solution.dtypes is not None and dtype not in solution.dtypes:
            allowed = ", ".join(solution.dtypes)
            message = f"the file says it is written for {allowed}, not for {dtype}"
            return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=message)
        target = Target(
            kind=self._device.kind,
            arch=self._device.architecture or options.arch,
            timed=options.timed,
            ahead=ahead,
        )
        language = self._languages[solution.language]
        return language.build(solution, job.problem, dtype, target, self._cache)

    def _judge(
        self, artifact: Built, draft: ResultBuilder, options: Options, builds: Builds
    ) -> Result:
        """The verdict on what was built and, while no build is at work, its times."""
        if options.timed and isinstance(artifact, Artifact):
            self._calibrate(builds.paused(self._finishing))
        with ExitStack() as sessions:
            try:
                ready = self._ready(artifact, draft, options, sessions)
                if isinstance(ready, Result):
                    return ready
                measured = self._measure(ready, draft, options, builds)
            except (MachineError, OutOfMemoryError) as error:
                error.__traceback__ = None  # its frames hold tensors of the judge's
                if crowded := crowded_out(self._device, sessions.close):
                    # One of the trusted runners may be what found no memory.
                    self.benchmark.trusted.renew()
                    return draft.finish(Verdict.MEMORY_LIMIT, crowded)
                if isinstance(error, MachineError):
                    raise
                raise MachineError(f"out of memory on {self._device.name}: {error}") from error
            if isinstance(measured, TimedFault):
                return self._failed_timing(draft, measured)
        score = make_score(
            draft.task,
            measured,
            self._budget(options),
            known_seed=options.seed is not None,
            conditions=draft.conditions,
        )
        return draft.finish(Verdict.ACCEPTED, "", measured, score)

    def _measure(
        self, ready: ReadyToTime, draft: ResultBuilder, options: Options, builds: Builds
    ) -> tuple[Measurement, ...] | TimedFault:
        with self._exclusive() as held, builds.paused(self._finishing):
            measured = self.benchmark.measure(
                draft.task,
                ready,
                held,
                self._budget(options),
                all_baselines=options.all_baselines,
                note=draft.notes.append,
            )
        if held.monitor is not None:
            draft.conditions = held.monitor.conditions()
        return measured

    def _failed_timing(self, draft: ResultBuilder, failed: TimedFault) -> Result:
        """The result of a submission that was right until it was timed."""
        if failed.case is not None:
            draft.output = failed.output
            draft.add_timed_failure(failed.case, failed.fault)
        return draft.finish(failed.fault.verdict, failed.fault.message)

    def _calibrate(self, paused: AbstractContextManager[None]) -> None:
        """Measure what an idle device is like, once, before any submitted code runs.

        A kernel left running now would skew the idle baseline for all later submissions.
        """
        if not self.benchmark.trusted.calibrated:
            with self._exclusive() as held, paused:
                self.benchmark.trusted.overhead(held.runner_cpu)

    def _ready(
        self, artifact: Built, draft: ResultBuilder, options: Options, sessions: ExitStack
    ) -> ReadyToTime | Result:
        """What was built, checked and loaded to be timed; or the result, if that is all."""
        draft.build = artifact.build
        if isinstance(artifact, BuildFailure):
            return draft.finish(artifact.verdict, artifact.message)
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
        return ReadyToTime(first, start)

    def _session(self, program: RunnerProgram, task: Task) -> Session:
        return self._open_session(program, self._device, task.problem.limits)

    def _check(
        self, session: Session, program: RunnerProgram, draft: ResultBuilder, options: Options
    ) -> Fault | None:
        """Load the submission and run all cases; the draft gets what came of them."""
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
            session = self._open_session(program, self._device, limits)
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
        with self._exclusive():
            outcome = profile(task, case, timed_program(artifact), tool)
        if isinstance(outcome, str):
            draft.notes.append(f"no profile: {outcome}")
        else:
            draft.profile = outcome

    def _exclusive(self) -> AbstractContextManager[Exclusive]:
        """The device to ourselves."""
        return self._device.exclusive(self._waiting)

    def _finishing(self) -> None:
        self._progress.phase("wait for builds")

    def _waiting(self, seconds: float) -> None:
        self._progress.phase(f"wait for the GPU, {seconds:.0f} s")


def loaded_once() -> Callable[[Gradable], AnswerKey]:
    """Gives the reference of a problem, whose code is loaded the first time."""
    known: dict[Hashable, AnswerKey] = {}

    def reference(problem: Gradable) -> AnswerKey:
        key = problem.slug, problem.hash
        if key not in known:
            known[key] = problem.reference()
        return known[key]

    return reference
