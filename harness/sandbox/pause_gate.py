"""Work that is paused while something else is timed: threads, and the processes they wait for.

While a time is taken nothing else may be at work. Builds that are ended first, or not begun, leave
the processor idle for as long as the slowest compiler takes; so their processes are stopped and
continued instead (SIGSTOP, SIGCONT), and no time passes for them meanwhile.

A thread takes part by working in :meth:`PauseGate.work`. It registers the processes that it starts
with :func:`pausable`, and waits for them in :func:`waiting`, by :func:`clock`; threads that it
starts take part through :func:`side_by_side`. In a thread without a gate these functions do
nothing, and time passes as ever: the same code serves both.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TypeVar

from harness.sandbox import processes

T = TypeVar("T")

_START_SECONDS, _START_LOOK_SECONDS = 30.0, 0.005
_STOP_SECONDS = 20.0
"""On a busy machine a process may be in the kernel for long, and an honest build is to live."""


class _Thread(threading.local):
    gate: "PauseGate | None" = None


_thread = _Thread()
"""The gate that this thread works in, if any. Local to the thread and not passed around, since
waiting happens deep in code (locks, pipes, channels) that serves callers without one too."""


class PauseGate:
    """Lets threads :meth:`work`, and one thread at a time have them all :meth:`paused`.

    Args:
        time_s: the clock that :func:`clock` counts by, in seconds.
        builders: how many threads work at once.
    """

    def __init__(
        self, time_s: Callable[[], float] = time.perf_counter, *, builders: int = 1
    ) -> None:
        self._time_s = time_s
        self._builders = builders
        self._changed = threading.Condition()
        self._working = 0  # threads that are in the gate and do not wait
        self._closing = False  # nobody begins
        self._paused = False  # nobody goes on
        self._cancelled = False
        self._paused_s = 0.0
        self._monitors: set[int] = set()

    def work(self) -> AbstractContextManager[None]:
        """Work, as soon as nothing is being timed.

        Raises:
            CancelledError: :meth:`cancel` was called, before or meanwhile.
        """
        return self._work(lambda: self._closing)

    @contextmanager
    def paused(self, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Let no thread begin or go on; ``on_wait`` is called if some thread is still working.

        A thread goes on until it waits or ends; then all processes are stopped. A sandbox that
        cannot be stopped is ended.
        """
        since: float | None = None
        try:
            with self._changed:
                self._closing = True
                busy = self._working > 0
            if busy:
                on_wait()
            with self._changed:
                self._changed.wait_for(lambda: self._working == 0)
                self._paused = True
                since = self._time_s()
            for monitor in sorted(self._monitors):
                _stop(monitor)
            yield
        finally:
            try:
                # All that was stopped, also where that was interrupted.
                for monitor in sorted(self._monitors):
                    processes.send(_pausable_processes(monitor), signal.SIGCONT)
            finally:
                with self._changed:
                    if since is not None:
                        self._paused_s += self._time_s() - since
                    self._closing = self._paused = False
                    self._changed.notify_all()

    def cancel(self) -> None:
        """Let no thread begin or go on, and end all processes: see :func:`check_cancelled`."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()
        for monitor in list(self._monitors):  # later ones find that it is cancelled
            processes.send(_pausable_processes(monitor), signal.SIGKILL)

    def _check(self) -> None:
        if self._cancelled:
            raise CancelledError

    # -- for the threads inside, by the functions below --------------------------------------------

    @contextmanager
    def _work(self, blocked: Callable[[], bool]) -> Iterator[None]:
        self._begin(blocked)
        _thread.gate = self
        try:
            self._check()
            yield
            self._check()
        finally:
            _thread.gate = None
            self._end()

    @contextmanager
    def _wait(self) -> Iterator[None]:
        self._end()
        try:
            yield
        finally:
            # Blocked only once everyone has stopped: a thread that still works may need a lock that
            # this one holds.
            self._begin(lambda: self._paused)

    def _begin(self, blocked: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._cancelled or not blocked())
            self._working += 1

    def _end(self) -> None:
        with self._changed:
            self._working -= 1
            self._changed.notify_all()

    @contextmanager
    def _register(self, monitor: int) -> Iterator[None]:
        # A sandbox that is only being made has nothing yet that could be stopped, and would start
        # its processes during a pause: this thread is at work until it is made.
        deadline = time.monotonic() + _START_SECONDS
        while not (_pausable_processes(monitor) or processes.at_rest(monitor)):
            if time.monotonic() > deadline:
                break
            time.sleep(_START_LOOK_SECONDS)
        self._monitors.add(monitor)
        if self._cancelled:
            processes.send(_pausable_processes(monitor), signal.SIGKILL)
        try:
            yield
        finally:
            self._monitors.discard(monitor)


begun_before: set[PauseGate] = set()
"""Gates of work that was begun before there was a judge in this process."""


@contextmanager
def all_paused(gate: PauseGate, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """This gate paused, and with it those of work that was begun before."""
    with ExitStack() as paused:
        for each in (gate, *begun_before):
            paused.enter_context(each.paused(on_wait))
        yield


def _pausable_processes(monitor: int) -> list[int]:
    # Not init: it is ours, and ends the others when the judge has ended.
    return processes.family(monitor)[1:]


def _stop(monitor: int) -> None:
    # One sandbox at a time: one that cannot be stopped is ended, and no other.
    if not processes.stop(lambda: _pausable_processes(monitor), _STOP_SECONDS, waiting=True)[1]:
        processes.send(_pausable_processes(monitor), signal.SIGKILL)


def waiting() -> AbstractContextManager[None]:
    """Wait for a process in this block: it may be paused, and this thread goes on after it."""
    return _thread.gate._wait() if _thread.gate else nullcontext()


def pausable(monitor: int) -> AbstractContextManager[None]:
    """Let the processes of the sandbox of this monitor be paused while this thread waits."""
    return _thread.gate._register(monitor) if _thread.gate else nullcontext()


def side_by_side(*works: Callable[[], T]) -> list[T]:
    """The results of ``works``, run by a thread each; these take part as this one does."""
    gate = _thread.gate

    def work(one: Callable[[], T]) -> T:
        with gate._work(lambda: gate._paused) if gate else nullcontext():
            return one()

    with ThreadPoolExecutor(len(works)) as threads:
        begun = [threads.submit(work, one) for one in works]
        with waiting():
            wait(begun)
    return [one.result() for one in begun]


def clock() -> float:
    """Seconds, as :func:`time.perf_counter`, less those in which this thread's gate was paused."""
    gate = _thread.gate
    return gate._time_s() - gate._paused_s if gate else time.perf_counter()


def builders() -> int:
    """How many threads work at once in this thread's gate, this one included."""
    return _thread.gate._builders if _thread.gate else 1


def check_cancelled() -> None:
    """Make sure that this thread's gate was not cancelled, and its processes with it.

    Raises:
        CancelledError: it was.
    """
    if _thread.gate:
        _thread.gate._check()
