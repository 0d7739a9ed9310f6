"""How long work of the judge's waits on a card for that of others, by the card's own clock.

By the host's clock it cannot be told from a host that is slow to launch, as one is beside compilers
on all its other processors.
"""

import itertools
import math
import time
from collections.abc import Callable, Sequence

import torch

from harness.device.device_clock import DeviceClock

_MOST_STEPS = 8
"""So many ends of steps can be noted."""
_COMPARED_S = 0.1
"""For so many seconds both clocks go alike to some µs."""


class Lag:
    """Launches steps of work and times them on the card that ``clock`` belongs to."""

    def __init__(self, clock: DeviceClock, device: str) -> None:
        self._clock = clock
        self._stamps = torch.zeros(_MOST_STEPS, dtype=torch.int64, device=device)
        self._each = list(self._stamps)
        self._ahead_s, self._compared = 0.0, -math.inf

    def seconds(self, steps: Sequence[Callable[[], None]]) -> float:
        """Seconds that the card took for ``steps``, each once it was launched; waits for them."""
        stamps, launched = iter(self._each), []
        for step in (_begin, *steps):
            step()
            self._clock.write(next(stamps))
            launched.append(time.perf_counter())
        torch.cuda.synchronize()
        if launched[-1] - self._compared > _COMPARED_S:
            self._ahead_s, self._compared = self._clock.least_ahead_s(), launched[-1]
        done = [nanoseconds * 1e-9 - self._ahead_s for nanoseconds in self._stamps.tolist()]
        return seconds_on_device(launched, done[: len(launched)])


def _begin() -> None:
    """The first step: only the card's clock is read, as soon as nobody else's work is before it."""


def seconds_on_device(launched: Sequence[float], done: Sequence[float]) -> float:
    """Seconds that steps took which run one after the other, each from when it could begin.

    It could once it was ``launched`` and the one before was ``done``, both in seconds of one clock.
    """
    begun = map(max, launched, itertools.chain([-float("inf")], done))
    return sum(max(0.0, end - begin) for begin, end in zip(begun, done, strict=False))
