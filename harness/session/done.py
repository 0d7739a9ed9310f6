"""Waits for a runner's *done*: the judge's clock stops when it is seen."""

import time
from collections.abc import Callable

from harness.session.fault import Fault
from harness.wire.mailbox import Mailbox

_SPIN_CHECKS = 64
"""Reads of the mailbox between two looks at the clock."""
_NAP_SECONDS = 50e-6

_LOOK_SECONDS = 0.02
"""Time between two looks at the runner while it works."""
_ABOUT, _MOST_ABOUT_SECONDS = 0.25, 0.1
"""No look begins while *done* is expected: so much of the expected time before it and after, or so
long if that is less. What comes during a look, of 1 ms or of 40 beside neighbours that hold much
shared memory, would be seen late, and count as longer."""


class DoneWatch:
    """Spins on the mailbox of one runner; ``naps``: its threads need the processor meanwhile."""

    def __init__(self, mailbox: Mailbox, *, naps: bool) -> None:
        self._mailbox = mailbox
        self._naps = naps
        self._look_s = 0.0
        """Seconds that the last look took."""

    def wait(
        self,
        number: int,
        start: float,
        look: Callable[[], Fault | None],
        during: Callable[[float], None] | None = None,
        expected_s: float = 0.0,
    ) -> Fault | None:
        """Return when round ``number`` is done, or with the fault that a ``look`` finds before.

        ``look`` is called now and then, but not when it is expected to be done: ``expected_s``
        seconds after ``start``, where that is known. ``during`` is called all the time with the
        seconds since ``start``.
        """
        mailbox = self._mailbox
        next_look = time.perf_counter() + _LOOK_SECONDS
        while True:
            for _ in range(1 if self._naps else _SPIN_CHECKS):
                if mailbox.done == number:
                    return None
            if self._naps:
                time.sleep(_NAP_SECONDS)
            if during is not None:
                during(time.perf_counter() - start)
            if (now := time.perf_counter()) < next_look:
                continue
            about_s = min(_ABOUT * expected_s, _MOST_ABOUT_SECONDS) + self._look_s
            if expected_s and abs(now - start - expected_s) < about_s:
                continue
            if (fault := look()) is not None:
                return None if mailbox.done == number else fault
            self._look_s = time.perf_counter() - now
            next_look = now + self._look_s + _LOOK_SECONDS
