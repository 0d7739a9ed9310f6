"""Locks of the host's judges, on :mod:`harness.device.lock_files`: let go of by whoever ends."""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from harness.device.lock_files import lock_file
from harness.errors import MachineError

POLL_S, _REPORT_S = 0.05, 1.0
_SOONEST_S, _LATEST_S, _PART = 0.001, 0.01, 0.02
"""A lock that is waited for is tried again after a part of the time waited, within these bounds."""


class HostLock:
    """One lock, open in this process; not inherited by programs that it starts.

    Each instance is a holder of its own, in the same process, too.

    Raises:
        MachineError: there is no place for its file.
    """

    def __init__(self, name: str) -> None:
        self._path = lock_file(name)
        self._fd = os.open(self._path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)

    def take(self, *, shared: bool = False) -> bool:
        """Take it, if that can be done at once; whether it was.

        Raises:
            MachineError: the system has no locks to give for its file.
        """
        try:
            fcntl.flock(self._fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise MachineError(f"cannot lock {self._path}: {error} (see what it is)") from error
        return True

    def let_go(self) -> None:
        """Let go of it."""
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def note(self, text: str) -> None:
        """Leave ``text`` for others; to be called by the holder."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text.encode(), 0)

    def noted(self) -> str:
        """What the last holder that left something has left."""
        with contextlib.suppress(OSError):
            return os.pread(self._fd, 256, 0).decode("utf-8", "replace")
        return ""

    def close(self) -> None:
        """Let go of it for good. Closing twice is allowed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def take_all(locks: Iterable[HostLock]) -> bool:
    """Take all of ``locks`` or, if one cannot be taken at once, none; whether they were."""
    taken: list[HostLock] = []
    for lock in locks:
        if not lock.take():
            for each in taken:
                each.let_go()
            return False
        taken.append(lock)
    return True


def wait_until(done: Callable[[], bool], waiting: Callable[[float], None]) -> float:
    """Return once ``done()``, with the seconds that it took.

    ``waiting`` gets the seconds so far, about once in a second.
    """
    started = time.monotonic()
    waited = report_at = 0.0
    while not done():
        waited = time.monotonic() - started
        if waited >= report_at:
            waiting(waited)
            report_at = waited + _REPORT_S
        time.sleep(min(max(_SOONEST_S, _PART * waited), _LATEST_S))
    return waited


@contextmanager
def holding(locks: list[HostLock], waiting: Callable[[float], None]) -> Iterator[None]:
    """Hold all of ``locks`` in this block, once that can be done."""
    wait_until(lambda: take_all(locks), waiting)
    try:
        yield
    finally:
        for lock in locks:
            lock.let_go()
