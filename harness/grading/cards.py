"""Grading in several places, of this host or of a cluster: one judge in each, fed from one list.

Results come as they are there. What a judge's death costs is said by
:class:`~harness.grading.dispatch.Dispatch`: a second try, elsewhere where that can be.
"""

import time
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import count
from multiprocessing.connection import Connection, wait
from typing import TypeVar

from harness.device.cpu_plan import CpuPlan
from harness.errors import MachineError, ProblemError
from harness.grading.builds import files_ahead
from harness.grading.card_wire import (
    Begun,
    Broken,
    BuildAhead,
    Done,
    Errand,
    Order,
    Phase,
    Ready,
    Setup,
    Steps,
    Unjudged,
)
from harness.grading.dispatch import TRIES, Dispatch, Failure
from harness.grading.duplicates import Alike, outcomes_of
from harness.grading.feed import Answer, Feed, Unwanted
from harness.grading.give_up import GiveUp
from harness.grading.job import Completed, NotJudged, Work, completed, problem_key
from harness.grading.places import Judge, Place
from harness.progress.progress import Progress, counted
from harness.records.refs import DeviceRef
from harness.records.result import Result

_LOOK_S = 1.0
_SILENT_S = 3600.0
"""So long a judge at work may say nothing: twice what one file can take."""
_LOST = 5
"""So often in a row a judge may be lost before it is ready; then its place is to blame."""
_TELL_S = 30.0
"""After so long without any judge that has a machine, that is said."""
_PLACE_S = 1800.0
"""And after so long it is given up: an autoscaler takes minutes."""


Task = TypeVar("Task", Work, Errand)


class Cards(AbstractContextManager["Cards"]):
    """Grades on several cards; an :class:`harness.grading.executor.Executor` that compares nothing.

    Args:
        cards: where; all of one kind, since a board is of one.
        plan: the host's processors; None for any.
        progress: told of every judge's phases, each on a line of its own.
        told: is called with a line on each card that is left out.
        silent_s: the time after which a judge at work that says nothing has failed.
        builders: files built side by side in all; None: as ``plan`` says.
        recorded: what fails twice has a result, an ``INTERNAL_ERROR``.
        closed: is called when all judges have ended.
    """

    def __init__(
        self,
        cards: Sequence[Place],
        plan: CpuPlan | None,
        progress: Progress,
        *,
        told: Callable[[str], None],
        silent_s: float = _SILENT_S,
        builders: int | None = None,
        recorded: bool = False,
        closed: Callable[[], None] = lambda: None,
    ) -> None:
        self._cards = cards
        self._setup = [
            Setup(device=card.device, plan=plan, judges=len(cards), shown=progress.shown)
            for card in cards
        ]
        if builders is None:
            builders = 1 if plan is None else plan.builders
        self._builders = builders // len(cards)
        self._progress = progress
        self._lines = [progress.beside(card.name) for card in cards]
        self._told = told
        self._silent_s = silent_s
        self._recorded = recorded
        self._closed = closed
        self._placed, self._waits_told = time.monotonic(), False
        self._lost = [0] * len(cards)
        self._about: DeviceRef | None = None
        self._heard: dict[int, float] = {}
        self._left_out: dict[int, str] = {}
        self._ready: set[int] = set()
        self._stale: set[int] = set()
        self._processes: dict[int, Judge] = {}
        for number in range(len(cards)):
            self._start(number)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        everyone = list(self._processes.values())
        if kind is not None:
            for process in everyone:
                process.stop()
        else:
            for process in everyone:
                process.send(None)
        for process in everyone:
            process.finish() if kind is None else process.end()
        self._processes.clear()
        self._closed()
        for line in self._lines:
            line.finish()
        self._progress.finish()

    @property
    def judges(self) -> int:
        """How many there are when all are well."""
        return len(self._cards)

    @property
    def device(self) -> DeviceRef:
        """What they are graded on; waits for the first judge."""
        jobs = self._dispatch(())
        while self._about is None:
            self._step(jobs)
        return self._about

    def grade(self, work: Sequence[Work]) -> Iterator[Completed]:
        """As :meth:`Executor.grade`; in the order in which they are done."""
        return map(completed, self.outcomes(work))

    def outcomes(
        self, work: Sequence[Work], feed: Feed | None = None
    ) -> Iterator[Completed | NotJudged]:
        """As :meth:`Executor.outcomes`; of files with the same content one is graded.

        What ``feed`` gives meanwhile is graded, too; by then a problem that had mistakes may have
        none any more.
        """
        return counted(self._progress, self._outcomes(work, feed), len(work))

    def _outcomes(
        self, work: Sequence[Work], feed: Feed | None
    ) -> Generator[Completed | NotJudged, None, None]:
        alike, numbers = Alike(), count()
        begun: dict[int, Work] = {}
        wrong: dict[Hashable, ProblemError | MachineError] = {}

        def refused(each: Work) -> ProblemError | MachineError | None:
            if feed is not None and not any(map(feed.wants, alike.of(each))):
                return Unwanted("not graded: nobody waits for it")
            return wrong.get(problem_key(each.job))

        def begin(work: Sequence[Work]) -> list[Work]:
            first = alike.first_of(work)
            for each in first:
                wrong.pop(problem_key(each.job), None)
            begun.update((number, each) for each, number in zip(first, numbers, strict=False))
            return first

        def more() -> list[Work]:
            return [] if feed is None else begin(feed.take())

        news = None if feed is None else feed.fileno()
        for answer in self.answers(begin(work), refused, more, news):
            each = begun.pop(answer.number)
            if answer.error is not None and answer.of_problem:
                wrong[problem_key(each.job)] = answer.error
            yield from outcomes_of(alike.take(each), answer.error or _result(answer))

    def answers(
        self,
        tasks: Sequence[Task],
        refused: Callable[[Task], ProblemError | MachineError | None] = lambda _: None,
        more: Callable[[], Sequence[Task]] = tuple,
        news: int | None = None,
    ) -> Iterator[Answer]:
        """What came of each of ``tasks``, by its number, as soon as it is there.

        A task that waits is not begun any more, once ``refused`` says why. ``more`` gives those
        that have come meanwhile, whose numbers go on; the descriptor ``news`` can be read from
        when there are some.

        Raises:
            MachineError: every card was left out.
        """
        for card in self._stale & self._processes.keys():
            self._processes.pop(card).end()  # it is still at work on what nobody asks for any more
            self._start(card)
        self._stale.clear()
        begun = dict(enumerate(tasks))
        asked: dict[int, Work | Errand] = {**begun}
        jobs = self._dispatch(tasks)
        try:
            while not jobs.finished:
                dropped = jobs.drop(lambda each: refused(begun[each]) is not None)
                dropped += self._freed(
                    jobs, lambda each: isinstance(refused(begun[each]), Unwanted)
                )
                for number in dropped:
                    del asked[number]
                    yield Answer(number, error=refused(begun.pop(number)))
                self._give(jobs, asked)
                for answer in self._step(jobs, news):
                    task = asked.pop(answer.number)
                    if answer.failed and self._recorded and isinstance(task, Work):
                        asked[answer.number] = GiveUp(task, f"not graded: {answer.error}")
                        jobs.again(answer.number)
                    else:
                        del begun[answer.number]
                        yield answer
                for task in more():
                    number = jobs.add()
                    begun[number] = asked[number] = task
        finally:
            self._stale = {card for card in jobs.live if jobs.held(card)}

    def _dispatch(self, tasks: Sequence[Work | Errand]) -> Dispatch:
        live = [card for card in range(len(self._cards)) if card not in self._left_out]
        if not live:
            raise self._none_left()
        files = [each.job for each in tasks if isinstance(each, Work)]
        return Dispatch(len(tasks), live, 1 + max(1, files_ahead(self._builders, files)))

    def _none_left(self) -> MachineError:
        reasons = [f"{self._cards[card].name}: {why}" for card, why in self._left_out.items()]
        return MachineError("no card is left; " + "; ".join(reasons))

    def _give(self, jobs: Dispatch, tasks: Mapping[int, Work | Errand]) -> None:
        jobs.away = {card for card in jobs.live if not self._processes[card].placed}
        ready = self._ready.intersection(jobs.live)
        starting = any(self._processes[card].placed for card in set(jobs.live) - ready)
        # Nothing waits behind another file while a card is idle, or soon will be.
        for most in (1,) if starting else (1, None):
            for card in sorted(ready, key=lambda each: len(jobs.held(each))):
                if given := jobs.give(card, most):
                    self._heard[card] = time.monotonic()
                for number in given:
                    self._processes[card].send(Order(number, tasks[number]))
        for card, number in () if starting else jobs.build_ahead(sorted(ready)):
            if isinstance(task := tasks[number], Work):
                self._processes[card].send(BuildAhead(number, task))

    def _freed(self, jobs: Dispatch, unwanted: Callable[[int], bool]) -> list[int]:
        """What cards held that nobody asks for any more, while something waits for a card.

        Their judges are ended, and others started.
        """
        freed: list[int] = []
        for card in jobs.live if jobs.waiting else ():
            if (held := jobs.held(card)) and all(map(unwanted, held)):
                freed += jobs.release(card)
                self._processes.pop(card).end()
                self._start(card)
        return freed

    def _step(self, jobs: Dispatch, news: int | None = None) -> list[Answer]:
        """Wait a while for the judges, or ``news``, to say something; what is answered by it."""
        answers: list[Answer] = []
        links = {process.link: card for card, process in self._processes.items()}
        for link in wait([*links, *([] if news is None else [news])], _LOOK_S):
            # What was heard before may have left this card out.
            if isinstance(link, Connection) and links[link] in self._processes:
                answers += self._hear(links[link], link, jobs)
        for card in jobs.live:
            if not self._processes[card].placed:
                self._heard[card] = time.monotonic()
            at_work = jobs.held(card) or card not in self._ready
            if at_work and time.monotonic() - self._heard[card] > self._silent_s:
                why = f"its judge said nothing for {self._silent_s:.0f} s"
                answers += self._failed(card, why, jobs)
        self._wait_for_places()
        return answers

    def _wait_for_places(self) -> None:
        """Say that no judge has a machine yet, or any more; give up after a while.

        Raises:
            MachineError: it was long enough.
        """
        now = time.monotonic()
        if any(process.placed for process in self._processes.values()):
            self._placed, self._waits_told = now, False
        elif now - self._placed > _PLACE_S:
            raise MachineError(f"no place for a judge in {_PLACE_S / 60:.0f} minutes: ray status")
        elif now - self._placed > _TELL_S and not self._waits_told:
            self._waits_told = True
            self._progress.finish()
            self._told("waiting for a place in the cluster: ray status says what it lacks")

    def _hear(self, card: int, link: Connection, jobs: Dispatch) -> list[Answer]:
        try:
            message = link.recv()
        except (EOFError, OSError):
            process = self._processes[card]
            return self._failed(card, process.how_it_ended(), jobs, lost=process.lost)
        self._heard[card] = time.monotonic()
        line = self._lines[card]
        match message:
            case Ready(about):
                self._about = self._about or about
                if about != self._about:
                    return self._leave_out(card, f"{about.label}, not {self._about.label}", jobs)
                self._ready.add(card)
                self._lost[card] = 0
            case Phase(name, total):
                line.phase(name, total)
            case Steps(steps, note):
                line.advance(steps, note)
            case Begun(number):
                jobs.begun(card, number)
            case Done(number, value):
                self._done(card, number, jobs)
                return [Answer(number, value)]
            case Unjudged(number, error, of_problem) if of_problem:
                self._done(card, number, jobs)
                return [Answer(number, error=error, of_problem=True)]
            case Unjudged(_, error, _):
                return self._failed(card, str(error), jobs)
            case Broken(error, final):
                if final:
                    raise error
                return self._failed(card, str(error), jobs)
        return []

    def _done(self, card: int, number: int, jobs: Dispatch) -> None:
        for other in jobs.done(card, number):
            self._processes.pop(other).end()
            self._tell_left_out(other, f"its judge failed twice: {jobs.left_out[other]}", jobs)

    def _failed(self, card: int, why: str, jobs: Dispatch, *, lost: bool = False) -> list[Answer]:
        """End a judge, and start another in its place unless its card is left out."""
        at_work = card in self._ready
        self._lost[card] += lost
        given_up = jobs.fail(card, why, at_work=at_work, lost=lost and self._lost[card] < _LOST)
        self._processes.pop(card).end()
        if card in jobs.left_out:
            self._tell_left_out(card, f"its judge failed twice: {why}", jobs)
        else:
            self._start(card)
        if given_up is None:
            return []
        number, failures = given_up
        error = MachineError(self._failed_often(failures))
        return [Answer(number, error=error, failed=True)]

    def _leave_out(self, card: int, why: str, jobs: Dispatch) -> list[Answer]:
        """End a judge that is well, and not of the kind of the others."""
        jobs.leave_out(card, why)
        self._processes.pop(card).end()
        self._tell_left_out(card, f"a board is of one kind: {why}", jobs)
        return []

    def _tell_left_out(self, card: int, why: str, jobs: Dispatch) -> None:
        self._left_out[card] = jobs.left_out[card]
        self._progress.finish()
        self._told(f"{self._cards[card].name} is left out, as {why}")
        if not jobs.live:
            raise self._none_left()

    def _failed_often(self, failures: Sequence[Failure]) -> str:
        often = "twice" if len(failures) == TRIES else f"{len(failures)} times"
        if len({failure.why for failure in failures}) == 1:
            return f"{failures[0].why} ({often}, so it is not tried again)"
        told = [f"{self._cards[card].name}: {why}" for card, why, _ in failures]
        return f"its judge failed {often}, so it is not tried again: {'; '.join(told)}"

    def _start(self, card: int) -> None:
        self._ready.discard(card)
        self._heard[card] = time.monotonic()
        self._processes[card] = self._cards[card].start(self._setup[card])


def _result(answer: Answer) -> Result:
    assert isinstance(answer.value, Result), "it is what files are answered with"
    return answer.value
