"""Speed of light: how fast a device moves bytes and multiplies, measured on the device at hand.

Ceilings come from a copy and a large matrix product in the judge's own process, not from a
datasheet, so they are what the card does under today's power and temperature.
"""

import math
import time
from collections.abc import Callable

import torch

from harness.device.base import Device
from harness.problem.case import Case
from harness.problem.gradable import Gradable

_COPY_BYTES, _SIDE = 1 << 30, 8192
_REPEATS, _IN_A_ROW_S, _TRIED, _MAX_CALLS = 5, 0.02, 3, 100
_AGREE = 1.002
"""Two repeats that differ by less are the fastest that there are."""
_COMPONENT = {torch.complex64: torch.float32, torch.complex128: torch.float64}


class Roofline:
    """The ceilings of one device, each measured when it is first asked for."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._bandwidth: float | None = None
        self._peaks: dict[tuple[torch.dtype, bool], float] = {}

    def bandwidth(self) -> float:
        """Bytes a second, read and written, of the fastest of some large operations.

        Memory likes some mixes of reading and writing better than others, by a sixth on an H100:
        as many bytes read as written, twice as many, and written alone.
        """
        if self._bandwidth is None:
            count = min(_COPY_BYTES, self._device.free_bytes() // 8) // 4
            source = torch.zeros(count, device=self._device.torch_device)
            other, target = torch.zeros_like(source), torch.empty_like(source)
            self._bandwidth = source.nbytes * max(
                2 / self._fastest(lambda: target.copy_(source)),
                2 / self._fastest(lambda: torch.neg(source, out=target)),
                3 / self._fastest(lambda: torch.add(source, other, out=target)),
                1 / self._fastest(lambda: target.fill_(1.0)),
            )
        return self._bandwidth

    def peak(self, element: torch.dtype, *, tf32: bool) -> float | None:
        """Floating-point operations a second of the fastest of some large matrix products.

        ``tf32`` lets float32 products be made in TF32. None for integers.
        """
        element = _COMPONENT.get(element, element)
        if not element.is_floating_point:
            return None
        tf32 = tf32 and element == torch.float32
        if (element, tf32) not in self._peaks:
            side = _SIDE if element != torch.float64 else _SIDE // 2
            # A generator of its own: a capture that failed can leave torch's default one unusable.
            where = self._device.torch_device
            generator = torch.Generator(device=where)
            a = torch.randn(side, side, device=where, generator=generator).to(element)
            out = torch.empty_like(a)
            matmul = torch.backends.cuda.matmul
            allowed, matmul.allow_tf32 = matmul.allow_tf32, tf32
            try:
                fastest = self._fastest(lambda: torch.matmul(a, a, out=out))
            finally:
                matmul.allow_tf32 = allowed
            self._peaks[element, tf32] = 2 * side**3 / fastest
        return self._peaks[element, tf32]

    def sol_time_s(
        self, problem: Gradable, case: Case, dtype: str, *, strict: bool
    ) -> float | None:
        """Least seconds for one call of ``case``: max(bytes / bandwidth, flops / peak).

        With ``strict`` float32 gets TF32's peak even where a problem does not allow TF32: a kernel
        that multiplies in pieces may use tensor cores. None where the problem does not say how many
        bytes and operations there are, and on a CPU.
        """
        if self._device.emulated:
            return None
        parts, work = [], problem.work(case, dtype)
        if work.bytes is not None:
            parts.append(work.bytes / self.bandwidth())
        if work.flops is not None:
            peak = self.peak(getattr(torch, dtype), tf32=strict or work.tf32)
            if peak is not None:
                parts.append(work.flops / peak)
        return max(parts, default=None)

    def _fastest(self, work: Callable[[], object]) -> float:
        """Seconds for one of several in a row: launching and waiting can take 0.3 ms."""
        work()
        once_s = self._seconds(work, 1)
        if once_s < _IN_A_ROW_S:
            once_s = self._seconds(work, _TRIED) / _TRIED
        count = min(_MAX_CALLS, math.ceil(_IN_A_ROW_S / max(once_s, 1e-9)))
        best, second = sorted(self._seconds(work, count) for _ in range(2))
        for _ in range(_REPEATS - 2):
            if second <= _AGREE * best:
                break
            best, second, _ = sorted((best, second, self._seconds(work, count)))
        return best / count

    def _seconds(self, work: Callable[[], object], count: int) -> float:
        self._device.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            work()
        self._device.synchronize()
        return time.perf_counter() - start
