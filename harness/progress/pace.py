"""How fast a run over many files goes, and how long it still takes."""

import time
from collections.abc import Callable


class Pace:
    """Counts files from the moment on when it is made."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total = total
        self._clock = clock
        self._start = clock()

    def told(self, done: int) -> str:
        """``9.2 a minute, 22 min left``; empty as long as nothing is known."""
        spent = self._clock() - self._start
        if done == 0 or spent <= 0:
            return ""
        left = (self._total - done) * spent / done
        return f"{60 * done / spent:.3g} a minute, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"
