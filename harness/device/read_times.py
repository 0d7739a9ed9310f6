"""Tells what lies in a card's L2 cache, by how long reading it takes."""

import ctypes
import math
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from harness.runner.driver import Driver

_KERNEL = Path(__file__).with_name("read_times.ptx")
_WORDS = 1 << 23
_READS = 2048
_APART = 1.25
"""Times as long as from the cache that reading from memory takes at least, to be told apart."""


class ReadTimes:
    """Measures single reads, past the L1 cache; ``flush`` empties the L2."""

    def __init__(self, driver: Driver, device: str, flush: Callable[[], None]) -> None:
        self._driver = driver
        module = driver.load_module(_KERNEL.read_bytes())
        self._kernel = driver.function(module, "read_times")
        self.cached_below = self._calibrate(device, flush)
        """Cycles that no read from memory takes, and most from the cache do; 0 if unknown."""

    def measure(self, words: Tensor, places: Tensor, cycles: Tensor) -> None:
        """Write the cycles that reading each of ``words`` (int64) at ``places`` took; 0: unknown.

        ``places`` and ``cycles`` are int64 of one length. Returns before the device has done so.
        """
        pointers = [ctypes.c_void_p(t.data_ptr()) for t in (words, places, cycles)]
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(p) for p in pointers))
        stream = torch.cuda.current_stream().cuda_stream
        grid = (places.numel(), 1, 1)
        self._driver.launch_kernel(self._kernel, grid, (1, 1, 1), 0, stream, arguments)

    def _calibrate(self, device: str, flush: Callable[[], None]) -> float:
        words = torch.zeros(_WORDS, dtype=torch.int64, device=device)
        places = torch.randint(_WORDS, (_READS,), device=device)
        cycles = torch.zeros(2, _READS, dtype=torch.int64, device=device)
        for _ in range(2):  # the first time its code is loaded
            flush()
            for each in cycles:
                self.measure(words, places, each)
        memory, cache = (float(each.double().median()) for each in cycles)
        return math.sqrt(memory * cache) if memory > _APART * cache > 0 else 0.0
