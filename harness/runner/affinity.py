"""Pins the thread that launches recorded calls to the processor that the judge names."""

import contextlib
import os


class ThreadAffinity:
    """The processor that the calling thread is pinned to.

    Other threads, and those that are started while it is unpinned, run where they like.
    """

    def __init__(self) -> None:
        self._cpu: int | None = None
        self._before: set[int] = set()

    def pin(self, cpu: int) -> None:
        """Run on no other processor than ``cpu``; changes nothing where that is not allowed."""
        if cpu == self._cpu:
            return
        self.unpin()
        with contextlib.suppress(OSError):
            before = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {cpu})
            self._cpu, self._before = cpu, before

    def unpin(self) -> None:
        """Run wherever the thread could before :meth:`pin`."""
        if self._cpu is None:
            return
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, self._before)
        self._cpu = None
