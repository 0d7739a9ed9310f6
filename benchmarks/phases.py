"""Where the time of a grade goes."""

import time
from collections import defaultdict
from collections.abc import Callable

from harness.progress.progress import Progress


class Phases(Progress):
    """A progress that notes how long each phase takes, by its first word."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._clock = clock
        self._now = ("start", clock())

    def phase(self, name: str, _: int | None = None) -> None:
        """The phase before ends here."""
        before, since = self._now
        self._now = (name.split()[0], self._clock())
        self.seconds[before] += self._now[1] - since

    def finish(self) -> None:
        """What comes until the next phase is showing and storing."""
        self.phase("record")

    def taken(self) -> dict[str, float]:
        """Seconds by phase until now, but for those that took next to none; they start again."""
        self.phase("start")
        found, self.seconds = self.seconds, defaultdict(float)
        return {name: round(seconds, 2) for name, seconds in found.items() if seconds >= 0.005}
