"""Work that stands still while it would disturb: threads, and the processes they wait for.

While a time is taken nothing else may be at work. Builds that are ended first, or not begun, leave
the processor idle for as long as the slowest compiler takes; so their processes are stopped and
continued instead (SIGSTOP, SIGCONT), and no time passes for them meanwhile.

A thread takes part by working in :meth:`PauseGate.open`. The processes that it starts it names with
:func:`pausable`, and waits for them in :func:`waiting`, by :func:`clock`; threads that it
starts take part through :func:`side_by_side`. For threads that are in no gate there is nothing to
rest from, and time passes as ever: the same code serves both.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from typing import TypeVar

from harness.sandbox import processes

T = TypeVar("T")

_START_SECONDS = 30.0
_START_LOOK_SECONDS = 0.005
_STOP_SECONDS = 20.0
"""On a busy machine a process may be in the kernel for long, and an honest build is to live."""

_here = threading.local()
"""``gate``: the one that this thread works in, if it does."""


class PauseGate:
    """Keeps work of other threads away from what must not be disturbed.

    Whoever works does so in :meth:`open`; in :meth:`closed` nobody does. One thread at a time may
    close it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._working = 0
        self._shut = False
        self._still = False
        self._over = False
        self._stood_s = 0.0
        self._roots: set[int] = set()

    @contextmanager
    def open(self) -> Iterator[None]:
        """Wait until the gate is open, and work.

        Raises:
            CancelledError: :meth:`end` was called, before or meanwhile.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._over or not self._shut)
            self._go_on()
            self._working += 1
        with self._inside():
            yield

    @contextmanager
    def closed(self, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Let nobody begin or go on; ``waiting`` is called where somebody has to come to rest.

        Whoever works goes on until it rests or ends, and then all processes are stopped. Those of
        a sandbox in which some cannot be are ended.
        """
        since: float | None = None
        try:
            with self._changed:
                self._shut = True
                busy = self._working > 0
            if busy:
                waiting()
            with self._changed:
                self._changed.wait_for(lambda: self._working == 0)
                self._still = True
                since = time.perf_counter()
            for root in sorted(self._roots):
                _stop(root)
            yield
        finally:
            try:
                # Whatever was stopped, also where that was interrupted.
                for root in sorted(self._roots):
                    processes.send(_stoppable(root), signal.SIGCONT)
            finally:
                with self._changed:
                    if since is not None:
                        self._stood_s += time.perf_counter() - since
                    self._shut = self._still = False
                    self._changed.notify_all()

    def end(self) -> None:
        """Let nobody work any more: nobody begins, and processes are ended.

        What they leave is to be kept by nobody: see :func:`check_cancelled`.
        """
        with self._changed:
            self._over = True
            self._changed.notify_all()
        for root in list(self._roots):  # who comes later finds that it is over
            processes.send(_stoppable(root), signal.SIGKILL)

    def _go_on(self) -> None:
        if self._over:
            raise CancelledError

    # -- for the threads inside, by the functions below --------------------------------------------

    @contextmanager
    def _inside(self) -> Iterator[None]:
        _here.gate = self
        try:
            yield
            self._go_on()
        finally:
            del _here.gate
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    @contextmanager
    def _beside(self) -> Iterator[None]:
        """Work on behalf of a thread that rests meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or not self._still)
            self._working += 1
        with self._inside():
            yield

    @contextmanager
    def _rest(self) -> Iterator[None]:
        with self._changed:
            self._working -= 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                # Not as long as the gate is only being shut: whoever still works may wait for what
                # this thread has to give back.
                self._changed.wait_for(lambda: self._over or not self._still)
                self._working += 1

    @contextmanager
    def _standing(self, root: int) -> Iterator[None]:
        # A sandbox that is only being made has nothing yet that could be stopped, and would not
        # stand still later: this thread is at work until it is made.
        deadline = time.monotonic() + _START_SECONDS
        while not _begun(root) and time.monotonic() < deadline:
            time.sleep(_START_LOOK_SECONDS)
        self._roots.add(root)
        if self._over:
            processes.send(_stoppable(root), signal.SIGKILL)
        try:
            yield
        finally:
            self._roots.discard(root)

    def _clock(self) -> float:
        return time.perf_counter() - self._stood_s


def _stoppable(root: int) -> list[int]:
    # Not the first of a family: it is ours, and ends the others when the judge has ended.
    return processes.family(root)[1:]


def _begun(root: int) -> bool:
    """Whether the sandbox whose keeper is ``root`` has what it was made for, or has ended."""
    return bool(_stoppable(root)) or processes.at_rest(root)


def _stop(root: int) -> None:
    # One by one: who does not stand still ends, and nobody else.
    if not processes.stop(lambda: _stoppable(root), _STOP_SECONDS, waiting=True)[1]:
        processes.send(_stoppable(root), signal.SIGKILL)


@contextmanager
def waiting() -> Iterator[None]:
    """Wait for a process in here: it may be stopped, and this thread goes on after it."""
    gate: PauseGate | None = getattr(_here, "gate", None)
    if gate is None:
        yield
    else:
        with gate._rest():
            yield


@contextmanager
def pausable(root: int) -> Iterator[None]:
    """What runs in the sandbox whose keeper is ``root`` may be stopped while this thread rests."""
    gate: PauseGate | None = getattr(_here, "gate", None)
    if gate is None:
        yield
    else:
        with gate._standing(root):
            yield


def side_by_side(*works: Callable[[], T]) -> list[T]:
    """What ``works`` return, done by a thread each; they take part as this one does."""
    gate: PauseGate | None = getattr(_here, "gate", None)

    def work(one: Callable[[], T]) -> T:
        with gate._beside() if gate else nullcontext():
            return one()

    with ThreadPoolExecutor(len(works)) as threads:
        begun = [threads.submit(work, one) for one in works]
        with waiting():
            wait(begun)
    return [one.result() for one in begun]


def clock() -> float:
    """Seconds, as :func:`time.perf_counter`; they do not pass while this thread has to rest."""
    gate: PauseGate | None = getattr(_here, "gate", None)
    return time.perf_counter() if gate is None else gate._clock()


def check_cancelled() -> None:
    """Nothing, unless the gate that this thread works in has ended, and its processes with it.

    Raises:
        CancelledError: it has.
    """
    gate: PauseGate | None = getattr(_here, "gate", None)
    if gate is not None:
        gate._go_on()
