"""What ends a command before its end: SIGINT, SIGTERM, SIGHUP, and the time given by ``--limit-s``.

Each raises :class:`Ended` in the main thread, so that all is left as after an error: sandboxes end,
folders are removed, transactions are finished or rolled back. It waits for the end of :func:`held`
blocks, and a while for that of an import, which may make another error of it. Where something
swallowed it, as callbacks of the garbage collector do, it is raised again.
"""

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_AGAIN_S = 1.0
"""A second signal within this time is the first: ``timeout`` sends two at once."""
_IMPORT_S = 2.0
"""An import may take so long to end; torch takes longer on a busy machine."""
_LATER_S = 0.05
"""Time until a signal that has to wait is looked at again."""


class Ended(KeyboardInterrupt):
    """The command ends by a signal: whatever handles Ctrl-C handles it."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number
        by = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
        super().__init__(f"interrupted{by}")


class OutOfTime(Ended):
    """The time of the command is over; each command says what it has not done."""

    def __init__(self, seconds: float) -> None:
        super().__init__(signal.SIGALRM)
        self.args = (f"--limit-s {seconds:g} is over",)


class _Ending:
    """How far this process is on its way to its end."""

    def __init__(self, at_once: Callable[[], None]) -> None:
        self.at_once = at_once
        self.cause: Ended | None = None
        self.since = 0.0
        self.holds = 0
        self.accepted = False
        self.leaving = False
        self.limit: tuple[float, float] | None = None  # seconds, and when they are over


_ending = _Ending(lambda: None)
"""Global, as the signals of a process are."""


def catch(at_once: Callable[[], None]) -> None:
    """Have signals raise :class:`Ended` from now on; one that is ignored already stays ignored.

    A further signal, a second or more later, calls ``at_once`` and ends the process.
    """
    global _ending
    if threading.current_thread() is not threading.main_thread():
        return
    _ending = _Ending(at_once)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)
    signal.signal(signal.SIGALRM, _on_alarm)


def leave() -> None:
    """The command is over: what is left to be done, at the exit, is not interrupted any more."""
    _ending.leaving = True  # first: the alarm may be there just now
    signal.setitimer(signal.ITIMER_REAL, 0)
    _ending.since = time.monotonic()


@atexit.register
def _ignore() -> None:
    """Nothing is left to be done: Python would have the signal change the exit code."""
    for number in SIGNALS:
        if signal.getsignal(number) is _on_signal:
            signal.signal(number, signal.SIG_IGN)


def accept() -> None:
    """Called where :class:`Ended` is handled: it is not raised again, which the caller will do."""
    _ending.accepted = True


def cause() -> Ended | None:
    """What ends the command, if something does."""
    return _ending.cause


@contextmanager
def held() -> Iterator[None]:
    """Let a signal that comes in this block wait for its end: it is done as a whole."""
    ending = _ending
    ending.holds += 1
    try:
        yield
    finally:
        ending.holds -= 1
    if ending.cause is not None and ending.holds == 0 and not ending.accepted:
        raise ending.cause


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raise :class:`OutOfTime` in this block after so many seconds of wall time; None: never.

    Only in the main thread.
    """
    if seconds is None:
        yield
        return
    ending, before = _ending, signal.signal(signal.SIGALRM, _on_alarm)
    ending.limit = seconds, time.monotonic() + seconds
    _look_again(seconds)
    try:
        yield
    finally:
        ending.limit = None
        if isinstance(ending.cause, OutOfTime):  # the caller goes on, and says what is not done
            ending.cause, ending.accepted = None, False
        if ending.cause is None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _on_signal(number: int, frame: FrameType | None) -> None:
    ending = _ending
    now = time.monotonic()
    if ending.cause is None and not ending.leaving:
        ending.cause, ending.since = Ended(number), now
        _interrupt(frame)
    elif now - ending.since > _AGAIN_S:
        if not ending.leaving:  # else it is said
            with contextlib.suppress(OSError):
                os.write(2, f"{Ended(number)}\n".encode())
        ending.at_once()
        os._exit(128 + number)


def _on_alarm(_number: int, frame: FrameType | None) -> None:
    ending = _ending
    if ending.cause is None and ending.limit is not None:
        seconds, over = ending.limit
        if (left := over - time.monotonic()) > 0:
            _look_again(left)
        else:
            ending.cause, ending.since = OutOfTime(seconds), time.monotonic()
    if ending.cause is not None:
        _interrupt(frame)


def _interrupt(frame: FrameType | None) -> None:
    """Raise the cause, unless it is on its way up already or has to wait."""
    if _ending.leaving or _ending.accepted or _ending.cause is None:
        return
    _look_again(_LATER_S)
    patient = time.monotonic() - _ending.since < _IMPORT_S
    if not (_ending.holds or _handled() or (patient and _importing(frame))):
        raise _ending.cause


def _look_again(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _handled() -> bool:
    """Whether this thread is in a block that handles an interrupt."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
