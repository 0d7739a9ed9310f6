"""Grades submissions one after the other: build, check, time, record.

docs/explanation/architecture.md walks through these steps.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from torch import OutOfMemoryError

from harness.device.base import Device, crowded_out
from harness.errors import JudgeError, MachineError, NoDeviceError, ProblemError
from harness.formats.processes import PROBLEMS
from harness.grading.benchmark import Benchmark, ReadyToTime, benchmark_cases
from harness.grading.builds import Builds, Built, Turn, Upcoming
from harness.grading.case_selection import too_large
from harness.grading.checking import OpenSession
from harness.grading.head_to_head import Lost, common, comparison, head_to_head
from harness.grading.job import Job, Options, Outcome, chosen_dtype, problem_key
from harness.grading.preparation import Preparation, Sessions
from harness.grading.result_builder import ResultBuilder, TimedFault, make_score
from harness.grading.solution_refs import solution_ref
from harness.grading.turns import exclusive, shared, turn_to_build
from harness.grading.weights import (
    fixed_task,
    has_own_weights,
)
from harness.judge.profile import find_profiler
from harness.judge.task import Task
from harness.languages import LANGUAGES
from harness.languages.base import Language
from harness.languages.build.cache import Cache, default_cache
from harness.languages.python import cpu_notes
from harness.problem.gradable import AnswerKey, Gradable
from harness.problem.sampling.cases import fresh_seed
from harness.progress.progress import Progress
from harness.records.comparison import Comparison
from harness.records.refs import SolutionRef
from harness.records.result import Result, Verdict
from harness.sandbox import leftovers, zygote
from harness.session.session import Session
from harness.solution.model import Artifact, BuildFailure, Invalid, Solution, Target
from harness.timing.budget import TimingBudget, budget_for
from harness.timing.clocks import clock_note
from harness.timing.foreign import CannotBeTimed
from harness.timing.timed_program import BaselineError

Refused = Callable[[Job], ProblemError | MachineError | None]
"""Says why a submission is not judged, if it is not."""


class Grader(AbstractContextManager["Grader"]):
    """Grades submissions on one device; as a context manager it ends all its processes.

    Between submissions it keeps the trusted runners, the launch overhead and loaded references.

    Args:
        languages: builds submissions, by the name of their language.
        cache: keeps what was built; by default the user's.
        builders: files built side by side; by default what suits the machine.
        reference: loads a problem's answers, once for each version of it.
        benchmark: takes times; by default one for ``device``.
        budget: how long to measure; by default what suits the device.
        open_session: starts a runner with a submission's program.
        profiler: finds Nsight Compute; None if it is not there.
    """

    def __init__(
        self,
        device: Device,
        progress: Progress,
        *,
        languages: Mapping[str, Language] = LANGUAGES,
        cache: Cache | None = None,
        builders: int | None = None,
        reference: Callable[[Gradable], AnswerKey] = lambda problem: problem.reference(),
        benchmark: Benchmark | None = None,
        budget: TimingBudget | None = None,
        open_session: OpenSession = Session,
        profiler: Callable[[], Path | None] = find_profiler,
    ) -> None:
        PROBLEMS.compute_on(device)
        self._device = device
        self._progress = progress
        self._languages = languages
        self._builders = builders
        self._cache = cache or default_cache()
        self._reference = reference
        self._references: dict[Hashable, AnswerKey] = {}
        self.benchmark = benchmark or Benchmark(device, progress)
        self._base_budget = budget
        self._preparation = Preparation(
            device, progress, cache=self._cache, open_session=open_session, profiler=profiler
        )

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            zygote.give_up()
        self._preparation.ahead.close()
        self.benchmark.trusted.close()
        leftovers.settle()
        self._progress.finish()

    def grade_all(
        self, jobs: Sequence[Job], options: Options, refused: Refused = lambda _: None
    ) -> Iterator[tuple[int, Outcome]]:
        """The number of each of ``jobs`` and what came of it, as soon as it is there.

        Files are built side by side, some ahead of their turn, and what is built is judged before
        what is not; builds are paused while a time is taken. What is not built or not judged yet is
        not any more, once ``refused`` says why.

        Raises:
            NoDeviceError, HarnessError: it concerns all files, or is our fault.
        """
        # Not for files without code: they cost nothing but being read.
        if options.timed and any(isinstance(job.solution, Solution) for job in jobs):
            self.benchmark.trusted.start()

        def build(job: Job) -> Built:
            if refused(job) is not None:
                raise CancelledError
            return self.build(job, options, ahead=len(jobs) > 1)

        with Builds(self._builders, len(jobs), self._device.workplace) as builds:
            for turn in builds.of(jobs, build, partial(self._progress.phase, "build")):
                yield turn.number, refused(turn.job) or self._outcome(turn, options, builds)

    def _outcome(self, turn: Turn, options: Options, builds: Builds) -> Outcome:
        try:
            return self.judge(turn.job, options, turn.building, builds, turn.upcoming)
        except NoDeviceError:
            raise
        except (ProblemError, MachineError) as error:
            error.__traceback__ = None  # its frames hold what was graded
            return error

    def judge(
        self,
        job: Job,
        options: Options,
        building: Future[Built],
        builds: Builds,
        upcoming: Upcoming = (),
    ) -> Result:
        """The result of one submission that ``builds`` builds: where all ways of grading meet.

        Runners of those that are ``upcoming`` are started meanwhile, if they are built already.

        Raises:
            ProblemError, MachineError, HarnessError: not the contestant's doing.
        """
        self._progress.phase("build")
        draft = self._draft(job, options)
        result = self._judge(building.result(), draft, builds, upcoming)
        if not upcoming:
            leftovers.settle()
        # Of this grade, or of one before, which may have been ending until now.
        return result.model_copy(update={"notes": (*result.notes, *leftovers.notes())})

    def grade(self, job: Job, options: Options) -> Result:
        """The result of one submission; raises as :meth:`judge`."""
        [(_, outcome)] = self.grade_all([job], options)
        if isinstance(outcome, JudgeError):
            raise outcome
        return outcome

    def give_up(self, job: Job, options: Options, message: str) -> Result:
        """The result of a submission that is not graded, which is no fault of its own."""
        return self._draft(job, options).finish(Verdict.INTERNAL_ERROR, message)

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        """Time two submissions to one problem in turns, if both are right.

        Both get the same seed and, unless ``options`` names one, the first data type that both
        are written for. The results of those that are not right are returned instead. Raises as
        :meth:`judge`.
        """
        options = common([first, second], options)
        drafts = [self._draft(job, options) for job in (first, second)]
        if self._device.captures_graphs:  # launch overhead is measured; elsewhere it is not
            self.benchmark.trusted.start()
        self._progress.phase("build", len(drafts))
        built = []
        for job in (first, second):
            with turn_to_build(self._device, self._progress):
                built.append(self.build(job, options))
            self._progress.advance()
        self._calibrate(options, nullcontext())
        with Sessions(awaited=self._device.emulated) as sessions:
            prepare = self._preparation.ready
            with shared(self._device, self._progress):
                ready = [prepare(*each, sessions) for each in zip(built, drafts, strict=True)]
            if failed := [each for each in ready if isinstance(each, Result)]:
                return failed
            a, b = (each for each in ready if isinstance(each, ReadyToTime))
            tasks = [draft.task for draft in drafts]
            if not all(map(has_own_weights, tasks)):  # their times would say different things
                tasks = [fixed_task(task) for task in tasks]
            cases = benchmark_cases(tasks[0])
            budget = self._budget(options)
            with exclusive(self._device, self._progress) as held:
                overhead = self.benchmark.trusted.overhead(held.runner_cpu)
                outcome = head_to_head(tasks, (a, b), cases, budget, overhead, held, self._progress)
                if isinstance(outcome, Lost):
                    return [drafts[outcome.which].finish_failed(outcome.failed)]
                conditions = held.monitor.conditions() if held.monitor else None
        return comparison(drafts[0], drafts[1], outcome, conditions)

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
        reason = job.problem.unfit(emulated=self._device.emulated)
        if not reason and options.case is None:
            reason = too_large(job.problem, self._device, dtype)
        if reason:
            about = f"{job.problem.slug} cannot be graded here: {reason}"
            return BuildFailure(verdict=Verdict.NOT_EXECUTABLE_HERE, message=about)
        arch = self._device.architecture or options.arch
        target = Target(kind=self._device.kind, arch=arch, timed=options.timed, ahead=ahead)
        language = self._languages[solution.language]
        return language.build(solution, job.problem, dtype, target, self._cache)

    def _draft(self, job: Job, options: Options) -> ResultBuilder:
        problem, solution = job.problem, job.solution
        key = problem_key(job)
        if key not in self._references:
            self._references[key] = self._reference(problem)
        seed = options.seed or fresh_seed()
        dtype = chosen_dtype(job, options)
        task = Task(problem, self._references[key], dtype, self._device, seed)
        if isinstance(solution, Invalid):
            unknown = SolutionRef(author="", name="", language="", hash="", path=job.path)
            about, reason = solution.reference or unknown, solution.reason
        else:
            about, reason = solution_ref(solution), None
        notes = list(job.notes)
        if self._device.emulated and isinstance(solution, Solution):
            notes += cpu_notes(solution)
        return ResultBuilder(task, about, options, reason=reason, notes=notes)

    def _judge(
        self,
        artifact: Built,
        draft: ResultBuilder,
        builds: Builds,
        upcoming: Upcoming,
    ) -> Result:
        """The verdict on what was built and, while no build is at work, its times."""
        runs = isinstance(artifact, Artifact)
        if draft.options.timed and runs:
            self._calibrate(draft.options, builds.paused(self._finishing), draft.task)
        with Sessions(awaited=self._device.emulated) as sessions:
            try:
                with shared(self._device, self._progress) if runs else nullcontext():
                    ready = self._preparation.ready(artifact, draft, sessions, upcoming)
                if isinstance(ready, Result):
                    return ready
                return self._timed(ready, draft, builds)
            except (MachineError, OutOfMemoryError) as error:
                error.__traceback__ = None  # its frames hold tensors of the judge's
                if crowded := crowded_out(self._device, sessions.end, sessions.mapped()):
                    # One of the trusted runners may be what found no memory.
                    self.benchmark.trusted.renew()
                    return draft.finish(Verdict.MEMORY_LIMIT, crowded)
                if isinstance(error, MachineError):
                    raise
                raise MachineError(f"out of memory on {self._device.name}: {error}") from error

    def _calibrate(
        self, options: Options, paused: AbstractContextManager[None], task: Task | None = None
    ) -> None:
        # Before any submitted code runs: a kernel that it left running would skew the idle baseline
        # for all later submissions, or the times of the problem's baseline that are kept.
        budget = self._budget(options)
        keep = task is not None and not self.benchmark.keeps(task, budget)
        if self.benchmark.trusted.calibrated and not keep:
            return
        with exclusive(self._device, self._progress) as held, paused:
            self.benchmark.trusted.overhead(held.runner_cpu)
            if task is not None and keep:
                self.benchmark.keep(task, held, budget)

    def _timed(self, ready: ReadyToTime, draft: ResultBuilder, builds: Builds) -> Result:
        """The result of a submission that was right in all cases, with its times."""
        budget = self._budget(draft.options)
        self._preparation.ahead.settle()
        try:
            with exclusive(self._device, self._progress) as held, builds.paused(self._finishing):
                beside = leftovers.notes()
                measured = self.benchmark.measure(draft, ready, held, budget)
        except CannotBeTimed as reason:
            draft.notes.append(f"not timed: {reason}")
            return draft.finish(Verdict.ACCEPTED)
        if held.monitor is not None:
            draft.conditions = held.monitor.conditions()
        if isinstance(measured, TimedFault):
            return draft.finish_failed(measured)
        names = ("the submission", "the baseline")
        draft.notes += filter(None, (clock_note(m.spec, m.clocks, names) for m in measured))
        score = make_score(
            draft.task,
            measured,
            budget,
            known_seed=draft.options.seed is not None,
            rough=draft.options.rough,
            conditions=draft.conditions,
            beside="; ".join(beside),
        )
        return draft.finish(Verdict.ACCEPTED, "", measured, score)

    def _budget(self, options: Options) -> TimingBudget:
        return budget_for(
            self._device, quick=options.quick, rough=options.rough, base=self._base_budget
        )

    def _finishing(self) -> None:
        self._progress.phase("wait for builds")


def concerns_problem(error: JudgeError) -> bool:
    """Whether it is a problem's fault that its submissions are not judged, not the machine's."""
    return isinstance(error, ProblemError | BaselineError)
