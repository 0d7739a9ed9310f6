"""Builds of many files: side by side, ahead of grading, paused while a time is taken."""

import sys
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import NamedTuple, Self, TypeVar

from harness.device.affinity import move_thread
from harness.device.workplace import Workplace
from harness.formats.kept import MOST_AHEAD
from harness.grading.duplicates import content_key
from harness.grading.job import Job
from harness.sandbox.host_memory import affordable_builders
from harness.sandbox.pause_gate import PauseGate, all_paused
from harness.sandbox.processors import usable_processors
from harness.solution.model import Artifact, BuildFailure

T = TypeVar("T")
U = TypeVar("U")

Built = Artifact | BuildFailure

_MOST_AHEAD = 32
"""Files that are built before their turn, at most: one that tunes itself takes a compiler as long
as ten others take to be graded."""


LOOK_AHEAD = 4
"""So many files are looked at before their turn: between two that run may be one that does not
compile, or a duplicate."""

Upcoming = Sequence[tuple[Job, Future[Built] | None]]
"""The files whose turns are next, in order, and their builds; None instead of a duplicate's."""


class Turn(NamedTuple):
    """The turn of a file to be judged."""

    job: Job
    building: Future[Built] | None
    """None for one whose content came before."""
    wanted_again: bool
    """Whether a duplicate will need its result."""
    upcoming: Upcoming


def files_ahead(builders: int, jobs: Iterable[Job]) -> int:
    """How many of these files so many builders build before their turn.

    Of problems of other formats no more than are kept described.
    """
    foreign = any(job.problem.format for job in jobs)
    return min(2 * builders, MOST_AHEAD if foreign else _MOST_AHEAD)


class Builds(AbstractContextManager["Builds"]):
    """Builds ahead of grading; use as a context manager.

    Args:
        workers: files built side by side; by default 3/4 of the processors, the rest grades, and
            fewer where there is little memory for each.
        files: how many files there are; more are not built side by side.
        place: the judge's processors, if it has its own: builds keep off all seats, or stand still
            while anyone on the host takes a time.
    """

    def __init__(
        self,
        workers: int | None = None,
        files: int | None = None,
        place: Workplace | None = None,
    ) -> None:
        self._place = place
        most = usable_processors() * 3 // 4 if place is None else place.builders
        wanted = min(files or sys.maxsize, most)
        self._workers = workers or affordable_builders(wanted)
        self._gate = PauseGate(builders=self._workers)
        self._pool = ThreadPoolExecutor(self._workers)
        self._turns = ExitStack()
        self._quiet = None if place is None else place.quiet

    def __enter__(self) -> Self:
        if self._quiet is not None:
            self._turns.enter_context(self._quiet.builds(self._gate))
        return self

    def __exit__(self, *_: object) -> None:
        self._gate.cancel()  # what is built still, nobody waits for
        self._turns.close()  # what stands still goes on now
        self._pool.shutdown(cancel_futures=True)

    def of(self, jobs: Sequence[Job], build: Callable[[Job], Built]) -> Iterator[Turn]:
        """The turn of each job, in order; ``build`` builds one, and is called in threads."""
        count = Counter(map(content_key, jobs))
        seen: set[Hashable] = set()

        def submit(job: Job) -> Future[Built] | None:
            key = content_key(job)
            if key is not None and key in seen:
                return None
            seen.add(key)
            return self.begin(partial(build, job))

        ahead = files_ahead(self._workers, jobs)
        for (job, building), *upcoming in prefetch(jobs, submit, max_pending=ahead):
            key = content_key(job)
            again = key is not None and count[key] > 1
            yield Turn(job, building, again, upcoming[:LOOK_AHEAD])

    def begin(self, build: Callable[[], Built]) -> Future[Built]:
        """What ``build`` builds, called in a thread as soon as a builder is free."""
        return self._pool.submit(self._behind_the_gate, build)

    def paused(self, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """No build runs in this context; ``on_wait`` is called if one has to be waited for.

        Where builds and times take turns on this host, whoever holds the device has its turn.
        """
        return nullcontext() if self._quiet is not None else all_paused(self._gate, on_wait)

    def _behind_the_gate(self, build: Callable[[], Built]) -> Built:
        with self._gate.work():
            if self._place is not None:
                move_thread(self._place.beside())
            return build()


def prefetch(
    items: Iterable[T], submit: Callable[[T], U], *, max_pending: int
) -> Iterator[list[tuple[T, U]]]:
    """For each of ``items``, in order, those that are pending, of which it is the first.

    At most ``max_pending``, each with what ``submit`` returned. That returns at once, with a future
    for instance; its errors are raised at that moment.
    """
    pending: deque[tuple[T, U]] = deque()
    for item in items:
        pending.append((item, submit(item)))
        if len(pending) == max_pending:
            yield list(pending)
            pending.popleft()
    while pending:
        yield list(pending)
        pending.popleft()
