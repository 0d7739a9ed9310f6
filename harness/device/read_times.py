"""Tells what lies in a card's L2 cache, by how long reading it takes."""

from collections.abc import Callable

import torch
from torch import Tensor

from harness.device.own_kernel import OwnKernel
from harness.runner.driver import Driver

_WORDS = 1 << 23
_READS = 2048
_LEAST = 0.1
"""Part of the reads that may be on the wrong side of what tells cache from memory."""
_TRIES = 6
"""Times that cache and memory are told apart at most: something else may be at work meanwhile."""


class ReadTimes:
    """Measures single reads, past the L1 cache; ``flush`` empties the L2."""

    def __init__(self, driver: Driver, device: str, flush: Callable[[], None]) -> None:
        self._kernel = OwnKernel(driver, "read_times")
        self.cached_below = self._calibrate(device, flush)
        """Cycles: most reads from the cache take less, and most from memory more; 0 if unknown."""

    def measure(self, words: Tensor, places: Tensor, cycles: Tensor) -> None:
        """Write the cycles that reading each of ``words`` (int64) at ``places`` took; 0: unknown.

        ``places`` and ``cycles`` are int64 of one length. Returns before the device has done so.
        """
        self._kernel.launch(places.numel(), words, places, cycles)

    def _calibrate(self, device: str, flush: Callable[[], None]) -> float:
        words = torch.zeros(_WORDS, dtype=torch.int64, device=device)
        generator = torch.Generator(device).manual_seed(0)
        places = torch.randint(_WORDS, (_READS,), generator=generator, device=device)
        # A cache has two halves: a word that another multiprocessor read may be in the far one.
        orders = [places, places.flip(0), places.roll(_READS // 3)]
        cycles = torch.zeros(len(orders), _READS, dtype=torch.int64, device=device)

        def below() -> float:
            """Cycles between both, by one try; 0 if they cannot be told apart."""
            flush()
            for order, each in zip(orders, cycles, strict=True):
                self.measure(words, order, each)
            memory = float(cycles[0].double().quantile(_LEAST))
            cache = float(cycles[1:].double().quantile(1 - _LEAST))
            return (memory + cache) / 2 if memory > cache > 0 else 0.0

        below()  # the first time its code is loaded
        return next(filter(None, (below() for _ in range(_TRIES))), 0.0)
