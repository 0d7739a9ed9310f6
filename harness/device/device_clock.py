"""Tells when a kernel of the judge's ran, by the card's own clock."""

import time
from typing import NamedTuple

import torch
from torch import Tensor

from harness.device.own_kernel import OwnKernel
from harness.runner.driver import Driver

_READINGS = 3
_TRIES, _APART_S, _SLACK_S = 4, 0.7e-3, 50e-6
"""So often is the clock held against the host's, with so many seconds between: both must say the
same to within the last. On some cards it goes on in steps of a millisecond."""


class DeviceClock:
    """The card's clock, which kernels read."""

    def __init__(self, driver: Driver, device: str) -> None:
        self._kernel = OwnKernel(driver, "now")
        self._now = torch.zeros(1, dtype=torch.int64, device=device)
        self.ahead_s()  # the first time its code is loaded
        seen = []
        for _ in range(_TRIES):
            seen.append(self.ahead_s())
            time.sleep(_APART_S)
        self.fine = max(seen) - min(seen) <= _SLACK_S
        """Whether it is fine enough to tell parts of a millisecond."""

    def write(self, into: Tensor) -> None:
        """Write the clock's nanoseconds into one int64; returns before the device has done so."""
        self._kernel.launch(1, into)

    def ahead_s(self) -> float:
        """Seconds that it is ahead of :func:`time.perf_counter` just now, to some 20 µs.

        By the quickest of a few readings: the host may have other work in one.
        """
        readings = [self._reading() for _ in range(_READINGS)]
        quickest = min(readings, key=lambda one: one.after_s - one.before_s)
        return quickest.told_s - (quickest.before_s + quickest.after_s) / 2

    def least_ahead_s(self) -> float:
        """Seconds that it is surely ahead, some 10 µs less than it is, if the host is quick once.

        That the card is at work, and reads its clock later, changes nothing.
        """
        return max(one.told_s - one.after_s for one in (self._reading() for _ in range(_READINGS)))

    def _reading(self) -> "_Reading":
        torch.cuda.synchronize()
        before = time.perf_counter()
        self.write(self._now)
        torch.cuda.synchronize()
        after = time.perf_counter()
        return _Reading(before, int(self._now) * 1e-9, after)


class _Reading(NamedTuple):
    """What the card's clock told, and the host's before and after that; seconds."""

    before_s: float
    told_s: float
    after_s: float
