"""What a submission may take over many runs: each may be short, and all together too long."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.own_time import Stopwatch, WallTime


class Allowance:
    """Adds up the time in which the judge waits for a submission, and says when it is too much.

    Time in which none of its processes computes (asleep, or waiting for each other) has a limit of
    its own: an honest one that is slow computes, or waits for a processor on a busy machine.

    Args:
        seconds: in all, by the stopwatch that it is used with.
        idle_s: that part of it; None: as much.
    """

    def __init__(self, seconds: float, idle_s: float | None = None) -> None:
        self.what = "it"
        """What the fault is about, such as ``its cases 1 to 5 of 16``."""
        self._seconds = seconds
        self._idle_limit_s = idle_s
        self._used_s = 0.0
        self._idle_s = 0.0
        self._since = self._looked = 0.0
        self._time: Stopwatch = WallTime()

    @property
    def left_s(self) -> float:
        """Seconds that are left of all, between two blocks of :meth:`used`."""
        return max(0.0, self._seconds - self._used_s)

    @contextmanager
    def used(self, time: Stopwatch | None = None) -> Iterator[None]:
        """In this block the judge waits for the submission, by ``time``; None: by the wall's."""
        self._time = time or self._time
        self._since = self._looked = self._time()
        try:
            yield
        finally:
            self._used_s += self._time() - self._since

    def look(self, computes: Callable[[], bool]) -> Fault | None:
        """The fault of a limit that is passed, in a block of :meth:`used`.

        ``computes``: whether a process of the submission does, now; it stands for the time since
        the last look.
        """
        now = self._time()
        used_s = self._used_s + now - self._since
        if used_s > self._seconds:
            return self._fault(used_s, self._seconds)
        if self._idle_limit_s is not None:
            if not computes():
                self._idle_s += now - self._looked
            self._looked = now
            if self._idle_s > self._idle_limit_s:
                idle = " without computing (asleep, or waiting)"
                return self._fault(self._idle_s, self._idle_limit_s, idle)
        return None

    def _fault(self, used_s: float, limit_s: float, how: str = "") -> Fault:
        took = (
            f"{used_s:.3g} s together{how}" if how else f"{used_s:.3g} s{self._time.name} together"
        )
        message = f"{self.what} took {took}; the limit is {limit_s:g} s"
        return Fault(Verdict.TIME_LIMIT, message)
