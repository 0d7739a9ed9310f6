"""Tells when a kernel of the judge's ran, by the card's own clock."""

import time

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
        return min(self._reading() for _ in range(_READINGS))[1]

    def _reading(self) -> tuple[float, float]:
        """Seconds that reading it took, and that it was ahead in the middle of them."""
        torch.cuda.synchronize()
        before = time.perf_counter()
        self.write(self._now)
        torch.cuda.synchronize()
        after = time.perf_counter()
        return after - before, int(self._now) * 1e-9 - (before + after) / 2
