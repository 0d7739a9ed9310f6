"""What a submission's limits are measured by: the wall, or what it took of the machine itself."""

from typing import Protocol

from harness.sandbox.pause_gate import clock

_LEAST = 0.1
"""Of the wall's time this part counts at least: some processes end where none sees their time."""


class Stopwatch(Protocol):
    """Counts seconds; only differences mean something."""

    name: str
    """What is counted, for messages, after a number of seconds; empty for the wall's."""

    def __call__(self) -> float:
        """The seconds so far."""


class Processes(Protocol):
    """The processes of a submission."""

    def computes(self) -> bool:
        """Whether one of them computes now, or would if it had a processor."""

    def processor_seconds(self) -> float:
        """What they and those that have ended took of processors."""


class WallTime:
    """The wall's time, for a device that nobody else uses."""

    name = ""

    def __call__(self) -> float:
        """The seconds so far, less those in which builds were paused."""
        return clock()


class OwnTime:
    """The time in which a submission computes, by the processors' count, or sleeps.

    While it waits for a processor that others use, none passes: on a busy machine its limits are
    what they are on an idle one.
    """

    name = " of computing or sleeping"

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._start = self._looked = clock()
        self._computed = 0.0
        self._slept = 0.0

    def __call__(self) -> float:
        """Look at the processes; what they do now stands for the time since the last look."""
        now = clock()
        # The count of one that ends is not seen until its parent has asked for it.
        computed = max(self._computed, self._processes.processor_seconds())
        if not self._processes.computes():
            self._slept += max(0.0, now - self._looked - (computed - self._computed))
        self._looked, self._computed = now, computed
        return max(self._computed + self._slept, _LEAST * (now - self._start))
