"""Builds that go on while files are checked, and never while a time is taken."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def look_ahead(items: Iterable[T], start: Callable[[T], U], most: int) -> Iterator[tuple[T, U]]:
    """Each of ``items``, in order, with what ``start`` made of it; ``most`` are begun at once.

    All together, so that whoever must wait until nothing is at work waits once for so many.
    ``start`` returns at once, with a future for instance; what it raises comes at that moment.
    """
    left = iter(items)
    while begun := [(item, start(item)) for item in islice(left, most)]:
        yield from begun


class Gate:
    """Keeps work of other threads away from what must not be disturbed.

    Whoever works does so in :meth:`open`; in :meth:`closed` nobody does: what has begun ends
    first, what is about to begin waits. One thread at a time may close it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._working = 0
        self._shut = False

    @contextmanager
    def open(self) -> Iterator[None]:
        """Wait until the gate is open, and keep it from being closed meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: not self._shut)
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    @contextmanager
    def closed(self, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Let nobody begin, and wait for those who have; ``waiting`` is called if there are any."""
        with self._changed:
            self._shut = True
            busy = self._working > 0
        try:
            if busy:
                waiting()
            with self._changed:
                self._changed.wait_for(lambda: self._working == 0)
            yield
        finally:
            with self._changed:
                self._shut = False
                self._changed.notify_all()
