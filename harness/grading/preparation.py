"""What a grade does before it takes times: checks what was built in all cases, and loads it."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from harness.device.base import Device
from harness.errors import MachineError
from harness.grading.ahead import StartedAhead, Wanted
from harness.grading.benchmark import ReadyToTime, benchmark_cases
from harness.grading.builds import Built, Upcoming
from harness.grading.checking import OpenSession, check_cases, explain
from harness.grading.result_builder import ResultBuilder
from harness.grading.stronger import stronger_notes
from harness.grading.turns import exclusive, turn_to_build
from harness.judge.profile import REMEDY, profile
from harness.languages.build.cache import Cache
from harness.languages.build.extensions import ROUNDS, notes_on, with_requests
from harness.problem.terms import Limits
from harness.progress.progress import Progress
from harness.records.result import Result, Verdict
from harness.sandbox import leftovers
from harness.session.allowance import Allowance
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram, checked_program, timed_program
from harness.session.session import Session
from harness.solution.model import Artifact, BuildFailure


class Sessions(ExitStack):
    """The sessions of submissions, which end together.

    Unless they are ``awaited``, nobody waits until they are gone, which takes a GPU's driver a
    tenth of a second, but whoever needs the card to himself, or most of its memory
    (:func:`harness.sandbox.leftovers.settle`).
    """

    def __init__(self, *, awaited: bool) -> None:
        super().__init__()
        self._awaited = awaited
        self._begun: list[Session] = []

    def begin(self, session: Session) -> Session:
        """Have it end with the others."""
        self._begun.append(session)
        self.callback(session.close, wait=self._awaited)
        return session

    def end(self) -> None:
        """End them all now, and wait until they are gone."""
        self.close()
        leftovers.settle()

    def mapped(self) -> int:
        """Bytes of the judge's buffers that their runners map."""
        return sum(each.mapped for each in self._begun)


class Preparation:
    """Checks submissions, and loads those that are right; made with arguments of the grader's."""

    def __init__(
        self,
        device: Device,
        progress: Progress,
        *,
        cache: Cache,
        open_session: OpenSession,
        profiler: Callable[[], Path | None],
    ) -> None:
        self._device = device
        self._progress = progress
        self._cache = cache
        self._open_session = open_session
        self._profiler = profiler
        self.ahead = StartedAhead(open_session, device)

    def ready(
        self,
        artifact: Built,
        draft: ResultBuilder,
        sessions: Sessions,
        upcoming: Upcoming = (),
        rounds: int = ROUNDS,
    ) -> ReadyToTime | Result:
        """Check what was built and load it to be timed; or the result, if that is all.

        Extensions of PyTorch that it asks for as it runs are built then, in ``rounds`` - 1 more.
        """
        draft.build = artifact.build
        if isinstance(artifact, BuildFailure):
            return draft.finish(artifact.verdict, artifact.message)
        limits = draft.task.problem.limits
        checked = checked_program(artifact)
        session = sessions.begin(self.ahead.take(Wanted(checked, limits)))
        self._start_ahead(upcoming)

        again = partial(self._loaded, checked, limits, sessions)
        session, fault = check_cases(
            session, draft, again, self._progress, interpreted=checked.interpret
        )
        if artifact.extensions is not None:
            asked = session.unbuilt()
            if asked and rounds > 1:
                session.close()
                draft.drawn = draft.cases = ()
                self._progress.phase("build")
                with turn_to_build(self._device, self._progress):
                    more = with_requests(artifact, asked, limits, self._cache)
                return self.ready(more, draft, sessions, upcoming, rounds - 1)
            if fault is None or fault.verdict not in (
                Verdict.COMPILE_ERROR,
                Verdict.INVALID_SUBMISSION,
            ):
                draft.notes += notes_on(artifact.extensions, asked)
        if fault is not None:
            session.close(wait=self._device.emulated)
            draft.output = session.output()  # all of it: nobody writes to it any more
            where = explain(draft, fault, checked, self._open_session, self._progress)
            return draft.finish(fault.verdict, fault.message + where)
        if draft.task.problem.format and draft.options.case is None:
            self._progress.phase("stronger checks")
            draft.notes += stronger_notes(session, draft.task, draft.drawn[0])
        if draft.options.timed and not draft.task.problem.baselines:
            draft.notes.append(f"not timed: {draft.task.problem.slug} has no baseline")
            return draft.finish(Verdict.ACCEPTED)
        if not draft.options.timed:
            if draft.options.profile:
                session.close()
                self._profile(timed_program(artifact), draft)
            return draft.finish(Verdict.ACCEPTED)

        fast = timed_program(artifact)
        allowance = Allowance(limits.timed_s)
        allowance.what = "warm-ups and timed calls"
        start = partial(self._loaded, fast, limits, sessions, allowance)
        first = session if fast == checked else start()
        if isinstance(first, Fault):
            return draft.finish(first.verdict, first.message)
        first.allowance = allowance
        return ReadyToTime(first, start)

    def _loaded(
        self,
        program: RunnerProgram,
        limits: Limits,
        sessions: Sessions,
        allowance: Allowance | None = None,
    ) -> Session | Fault:
        """A fresh session with the program loaded, which has the ``allowance`` from then on."""
        fresh = sessions.begin(self._open_session(program, self._device, limits))
        fault = fresh.load()
        fresh.allowance = allowance
        return fault or fresh

    def _profile(self, program: RunnerProgram, draft: ResultBuilder) -> None:
        """Profile one call, of the case that was named or the first timed shape.

        Raises:
            MachineError: there is no tool, or no room for the shape.
        """
        task, named = draft.task, draft.options.case
        tool = self._profiler()
        if tool is None:
            raise MachineError(REMEDY)
        case = task.problem.parse_case(named) if named else benchmark_cases(task)[0]
        self._progress.phase(f"profile {case.spec}")
        with exclusive(self._device, self._progress):
            outcome = profile(task, case, program, tool)
        if isinstance(outcome, str):
            draft.notes.append(f"no profile: {outcome}")
        else:
            draft.profile = outcome

    def _start_ahead(self, upcoming: Upcoming) -> None:
        """Start runners of submissions whose turns are next, where there is a card with room.

        References of other formats may need all that it has.
        """
        if not self._device.rankable:
            return
        built = [(job, _artifact(building)) for job, building in upcoming if not job.problem.format]
        self.ahead.begin(
            [Wanted(checked_program(made), job.problem.limits) for job, made in built if made]
        )


def _artifact(building: Future[Built] | None) -> Artifact | None:
    """What was built, if that is there already; what has failed is said in its turn."""
    if building is None or not building.done() or building.cancelled() or building.exception():
        return None
    built = building.result()
    return built if isinstance(built, Artifact) else None
