"""Builds of many files: side by side, some before their turn, still while a time is taken."""

import os
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self, TypeVar

from harness.grading.duplicates import content_key
from harness.grading.job import Job
from harness.sandbox.pause_gate import PauseGate
from harness.solution.model import Artifact, BuildFailure

T = TypeVar("T")
U = TypeVar("U")

Built = Artifact | BuildFailure


class Builds:
    """Builds ahead of grading; use as a context manager.

    Args:
        build: builds one file; called in threads.
    """

    def __init__(self, build: Callable[[Job], Built]) -> None:
        self._build = build
        self._gate = PauseGate()
        self._workers = max(1, (os.cpu_count() or 1) * 3 // 4)  # leaves room for what is graded
        self._pool = ThreadPoolExecutor(self._workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._gate.end()  # nobody wants what is being built
        self._pool.shutdown(cancel_futures=True)

    def of(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Future[Built] | None, bool]]:
        """Each job in order with its build, and whether another one will ask for its result.

        None instead of a build for a job whose content came before.
        """
        count = Counter(map(content_key, jobs))
        seen: set[Hashable] = set()

        def submit(job: Job) -> Future[Built] | None:
            key = content_key(job)
            if key in seen:
                return None
            if key is not None:
                seen.add(key)
            return self._pool.submit(self._behind_the_gate, job)

        for job, building in prefetch(jobs, submit, max_pending=2 * self._workers):
            key = content_key(job)
            yield job, building, key is not None and count[key] > 1

    def paused(self, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """No build is at work inside; ``on_wait`` is called where one has to come to rest."""
        return self._gate.closed(on_wait)

    def _behind_the_gate(self, job: Job) -> Built:
        with self._gate.open():
            return self._build(job)


def prefetch(
    items: Iterable[T], submit: Callable[[T], U], *, max_pending: int
) -> Iterator[tuple[T, U]]:
    """Each of ``items``, in order, with what ``submit`` gave for it, ``max_pending`` ahead.

    ``submit`` returns at once, with a future for instance; what it raises comes at that moment.
    """
    pending: deque[tuple[T, U]] = deque()
    for item in items:
        pending.append((item, submit(item)))
        if len(pending) == max_pending:
            yield pending.popleft()
    yield from pending
