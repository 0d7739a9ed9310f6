"""Where the time of a grade goes."""

import time
from collections import defaultdict
from collections.abc import Callable

from harness.progress.progress import Progress


class Phases(Progress):
    """A progress that notes how long each phase takes, by its first word."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.longest: dict[str, tuple[float, str]] = {}
        """By the first word: the seconds of the longest, and its name."""
        self._clock = clock
        self._now = ("start", clock())  # name and beginning

    def phase(self, name: str, _: int | None = None) -> None:
        """The phase before ends here."""
        before, since = self._now
        self._now = (name, self._clock())
        word, took_s = before.split()[0], self._now[1] - since
        self.seconds[word] += took_s
        self.longest[word] = max(self.longest.get(word, (0.0, "")), (took_s, before))

    def finish(self) -> None:
        """What comes until the next phase is showing and storing."""
        self.phase("record")

    def taken(self) -> dict[str, float]:
        """Seconds by phase until now, but for those that took next to none; they start again."""
        self.phase("start")
        found, self.seconds = self.seconds, defaultdict(float)
        return {name: round(seconds, 2) for name, seconds in found.items() if seconds >= 0.005}
