"""Turns of builds and times on a host whose processors do not suffice for both at once.

Any number of judges may build at a time, or any number take times, but never both: builds stand
still as soon as anybody wants to take a time, which goes before. Of the two locks who times holds
``timing`` and waits until nobody holds ``building``; who builds takes ``building`` first and looks
then whether anybody times, so that of two who begin at once at least one sees the other.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.device.file_locks import POLL_S, HostLock, wait_until
from harness.sandbox.pause_gate import PauseGate


class Quiet:
    """The turns, as one judge takes them."""

    @contextmanager
    def timing(self, waiting: Callable[[float], None]) -> Iterator[None]:
        """No judge of the host builds in this block; ``waiting`` as for a device."""
        with (
            contextlib.closing(HostLock("timing")) as timing,
            contextlib.closing(HostLock("building")) as building,
        ):
            wait_until(lambda: timing.take(shared=True), waiting)
            wait_until(building.take, waiting)
            building.let_go()
            yield

    @contextmanager
    def builds(self, gate: PauseGate) -> Iterator[None]:
        """Let what is at work in ``gate`` stand still while anybody takes a time."""
        over, ready = threading.Event(), threading.Event()
        with (
            contextlib.closing(HostLock("timing")) as timing,
            contextlib.closing(HostLock("building")) as building,
        ):
            watching = (gate, timing, building, over, ready)
            thread = threading.Thread(target=_watch, args=watching, daemon=True)
            thread.start()
            ready.wait()
            try:
                yield
            finally:
                over.set()
                thread.join()

    @contextmanager
    def building(self, waiting: Callable[[float], None]) -> Iterator[None]:
        """Build in this block, where nothing can stand still: who wants to time waits for it."""
        with (
            contextlib.closing(HostLock("timing")) as timing,
            contextlib.closing(HostLock("building")) as building,
        ):
            wait_until(lambda: _begin(timing, building), waiting)
            yield


def _watch(
    gate: PauseGate,
    timing: HostLock,
    building: HostLock,
    over: threading.Event,
    ready: threading.Event,
) -> None:
    """Hold ``building`` while nobody times, and else have ``gate`` stand still, until ``over``."""
    while not over.is_set():
        with gate.paused():
            building.let_go()
            ready.set()
            while not _begin(timing, building) and not over.wait(POLL_S):
                pass
        while not over.wait(POLL_S) and not _taken(timing):
            pass


def _begin(timing: HostLock, building: HostLock) -> bool:
    """Take ``building``, unless somebody times; whether it was taken."""
    if not building.take(shared=True):  # for a moment of somebody who is about to time
        return False
    if _taken(timing):
        building.let_go()
        return False
    return True


def _taken(timing: HostLock) -> bool:
    """Whether somebody times, or is about to."""
    if timing.take():
        timing.let_go()
        return False
    return True
