"""Which processor this thread is on while recorded calls are timed."""

import contextlib
import os


class ThreadAffinity:
    """The processor that the judge gives to all runners in turns; taken by the calling thread.

    Other threads, and such as are started while it is left, stay where they like.
    """

    def __init__(self) -> None:
        self._taken: int | None = None
        self._before: set[int] = set()

    def take(self, cpu: int) -> None:
        """Go there; stays anywhere it may be if it may not go there."""
        if cpu == self._taken:
            return
        self.leave()
        with contextlib.suppress(OSError):
            before = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {cpu})
            self._taken, self._before = cpu, before

    def leave(self) -> None:
        """Go anywhere again, as before."""
        if self._taken is None:
            return
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, self._before)
        self._taken = None
