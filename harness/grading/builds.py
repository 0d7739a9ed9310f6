"""Builds of many files: side by side, ahead of grading, paused while a time is taken."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from itertools import islice
from typing import NamedTuple, Self

from harness.device.affinity import move_thread
from harness.device.workplace import Workplace
from harness.formats.kept import MOST_AHEAD
from harness.grading.job import Job
from harness.sandbox.host_memory import affordable_builders
from harness.sandbox.pause_gate import PauseGate, all_paused
from harness.sandbox.processors import usable_processors
from harness.solution.model import Artifact, BuildFailure

Built = Artifact | BuildFailure

_MOST_AHEAD = 32
"""Files that are built before their turn, at most: one that tunes itself takes a compiler as long
as ten others take to be graded."""


_LOOK_AHEAD = 4
"""So many files are looked at before their turn: between two that run may be some that do not
compile."""

Upcoming = Sequence[tuple[Job, Future[Built]]]
"""The files whose turns are next, most likely, and their builds."""


class Turn(NamedTuple):
    """The turn of a file to be judged."""

    number: int
    """Its place among all files."""
    job: Job
    building: Future[Built]
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

    def of(
        self,
        jobs: Sequence[Job],
        build: Callable[[Job], Built],
        on_wait: Callable[[], None] = lambda: None,
    ) -> Iterator[Turn]:
        """The turn of each job: what is built first, in order, for others are built meanwhile.

        ``build`` builds one, and is called in threads; ``on_wait`` is called where none is built.
        """
        ahead = files_ahead(self._workers, jobs)
        left = enumerate(jobs)
        waiting: list[tuple[int, Job, Future[Built]]] = []
        while True:
            for number, job in islice(left, ahead - len(waiting)):
                waiting.append((number, job, self.begin(partial(build, job))))
            if not waiting:
                return
            turn = waiting.pop(first_built([building for *_, building in waiting], on_wait))
            yield Turn(*turn, upcoming((job, building) for _, job, building in waiting))

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


def first_built(builds: Sequence[Future[Built] | None], on_wait: Callable[[], None]) -> int:
    """Which is the first that is done, or None: there is nothing to build.

    Where there is no such one it calls ``on_wait``, and waits for any.
    """
    while True:
        for number, building in enumerate(builds):
            if building is None or building.done():
                return number
        on_wait()
        wait(filter(None, builds), return_when=FIRST_COMPLETED)


def upcoming(waiting: Iterable[tuple[Job, Future[Built]]]) -> Upcoming:
    """Those of what is ``waiting`` that come next, as far as is known now."""
    return sorted(waiting, key=lambda each: not each[1].done())[:_LOOK_AHEAD]
