"""The card's conditions while a submission was timed: clocks, heat, power, throttling, company.

They are read through NVML, by the judge between batches: a thread that reads would now and then
keep the judge from looking at its clock. A time that was taken while the hardware slowed the card
down, or while another program used it, says nothing about the submission.
"""

import contextlib
import functools
import math
import operator
import os
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from harness.device.base import ClockReading
from harness.records.measurement import (
    Conditions,
    describe_conditions,
    describe_other_processes,
)
from harness.sandbox import processes

_EVERY_S = 0.05
_STEADY = 0.7
"""The SM clock's lowest must be at least this share of its highest."""

# Bits of NVML's header nvml.h, which calls them nvmlClocksEventReason… (nvmlClocksThrottleReason…
# before CUDA 12.2); the last two are in nvidia-ml-py alone so far. Applications' and display clock
# settings (0x2, 0x100) are clocks that somebody chose, and no throttling.
_IDLE = 0x1
_POWER_CAP = 0x4
_REASONS = {
    _POWER_CAP: "power cap",
    0x8: "hw slowdown",
    0x10: "sync boost",
    0x20: "thermal",  # by the driver
    0x40: "thermal",  # by the hardware
    0x80: "power brake",
    0x200: "board limit",
    0x400: "reliability",
}
_UNSETTLED = {
    "hw slowdown": "the card's hardware slowed it down: check its cooling and power supply",
    "thermal": "the card slowed down because it was hot: cool it, or let it rest",
    "power brake": "the power supply made the card slow down: check the power supply",
}


class _Reading(NamedTuple):
    """One look at the card; None is what it did not report."""

    clock_mhz: int | None
    temperature_c: int | None
    power_mw: int | None
    reasons: int | None
    listed: frozenset[int] | None
    """The processes on the card."""


class GpuMonitor:
    """Reads the card on entering, on leaving, and at :meth:`read`; entered again, readings add up.

    ``device`` is the card's UUID, with or without its prefix ``GPU-`` (torch's has none), or
    NVML's index. Prefer the UUID: CUDA counts cards in another order, and only the visible ones.
    :meth:`conditions` is None where there is no NVML.

    Whose processes are on the card: ours are this process and those below it; one that was ours
    once stays ours, since a dying runner may lose its parent first. Another program's is one that
    runs here, visible in /proc, and is none of ours. In a container NVML may list nothing, or the
    process ids of the host, which mean something else here. So other programs are counted only if a
    process of ours was listed at some time, which proves that the numbers are of this namespace
    (the judge has the card open while it grades, so it is listed). Otherwise ``other_processes`` is
    0: rather a stranger missed than an honest time thrown away.
    """

    def __init__(self, device: str | int, *, every_s: float = _EVERY_S) -> None:
        self._device = device
        self._every_s = every_s
        self._readings: list[_Reading] = []
        self._clocks: list[int] = []
        self._company = 0
        self._recognised = False
        self._ours: set[int] = set()
        self._strangers: set[int] = set()
        self._opened: tuple[Any, Any] | None = None
        self._last = -math.inf

    def __enter__(self) -> Self:
        self._opened = _open(self._device)
        self._read(at_work=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is None:
            return
        self._read(at_work=False)
        nvml, _ = self._opened
        self._opened = None
        with contextlib.suppress(nvml.NVMLError):
            nvml.nvmlShutdown()

    def read(self) -> None:
        """Read the card, just at work, if the last time is long enough ago; takes about 1 ms."""
        if time.monotonic() - self._last >= self._every_s:
            self._read(at_work=True)

    def clocks(self) -> ClockReading | None:
        """The clocks now, in three questions to the driver; None if idle or not known."""
        if self._opened is None:
            return None
        nvml, card = self._opened
        reasons = _reasons(nvml, card) or 0
        sm_mhz = _ask(nvml, card, "ClockInfo", nvml.NVML_CLOCK_SM)
        memory_mhz = _ask(nvml, card, "ClockInfo", nvml.NVML_CLOCK_MEM)
        if not sm_mhz or not memory_mhz or reasons & _IDLE:
            return None
        capped = bool(reasons & _POWER_CAP)
        return ClockReading(sm_mhz=sm_mhz, memory_mhz=memory_mhz, capped=capped)

    def _read(self, *, at_work: bool) -> None:
        if self._opened is None:
            return
        self._last = time.monotonic()
        reading = _read(*self._opened)
        if any(part is not None for part in reading):
            self._look_around(reading.listed or frozenset())
            self._readings.append(reading)
        # An idle card lowers its clock by itself, which is no news about the time of a kernel.
        if at_work and reading.clock_mhz and not (reading.reasons or 0) & _IDLE:
            self._clocks.append(reading.clock_mhz)

    def conditions(self) -> Conditions | None:
        """What was read so far; None if the card reported nothing."""
        readings = self._readings
        if not readings:
            return None
        bits = functools.reduce(operator.or_, (r.reasons or 0 for r in readings))
        return Conditions(
            clock_mhz=(min(self._clocks, default=0), max(self._clocks, default=0)),
            temperature_c=max(r.temperature_c or 0 for r in readings),
            power_w=max(r.power_mw or 0 for r in readings) / 1000,
            throttle=tuple(sorted({name for bit, name in _REASONS.items() if bits & bit})),
            other_processes=self._company if self._recognised else 0,
            readings=len(readings),
        )

    def _look_around(self, listed: frozenset[int]) -> None:
        """Sort the ``listed`` process ids into ours and strangers."""
        unknown = listed - self._ours - self._strangers
        here = {pid for pid in unknown if Path(f"/proc/{pid}").exists()}
        if here:  # the walk through /proc takes milliseconds, and the judge waits meanwhile
            judge = os.getpid()
            family = {judge, *processes.descendants(judge)}
            self._ours |= here & family
            # One at rest is ending, and may have been ours; or it is stopped, and harms nobody.
            self._strangers |= {pid for pid in here - family if not processes.at_rest(pid)}
        self._recognised |= not listed.isdisjoint(self._ours)
        self._company = max(self._company, len(listed & self._strangers))


def unranked_reason(conditions: Conditions) -> str:
    """Why a time taken under these conditions is not to be ranked, and what to do; else empty."""
    found = unsettled(conditions)
    return f"{found}; then submit again (seen: {describe_conditions(conditions)})" if found else ""


def unsettled(conditions: Conditions) -> str:
    """What was not as it must be while times were taken, and what to do; empty if all was.

    A power cap is no such thing: tensor cores under full load run into it on every healthy card.
    """
    low, high = conditions.clock_mhz
    found = [text for reason, text in _UNSETTLED.items() if reason in conditions.throttle]
    if conditions.other_processes:
        company = describe_other_processes(conditions.other_processes)
        found.append(f"{company} used the card: end what else runs there")
    if low < _STEADY * high:
        found.append(
            f"the SM clock fell to {100 * low / high:.0f} % of its highest, under "
            f"{100 * _STEADY:.0f} %: let the card rest, or lock its clock (nvidia-smi -lgc)"
        )
    return "; ".join(found)


def _open(device: str | int) -> tuple[Any, Any] | None:
    """NVML and its handle of the card; None if either is not there."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        if isinstance(device, int):
            return pynvml, pynvml.nvmlDeviceGetHandleByIndex(device)
        # MIG-… is the UUID of a part of a card.
        uuid = device if device.startswith(("GPU-", "MIG-")) else f"GPU-{device}"
        return pynvml, pynvml.nvmlDeviceGetHandleByUUID(uuid)
    except pynvml.NVMLError:
        pynvml.nvmlShutdown()
        return None


def _ask(nvml: Any, card: Any, what: str, *arguments: object) -> Any:
    """What NVML says of the card; None if this card or this driver does not support it."""
    try:
        return getattr(nvml, f"nvmlDeviceGet{what}")(card, *arguments)
    except nvml.NVMLError:
        return None


def _reasons(nvml: Any, card: Any) -> Any:
    """The bits of what holds the clocks down."""
    reasons = _ask(nvml, card, "CurrentClocksEventReasons")
    if reasons is None:  # a driver from before CUDA 12.2 knows the old name only
        reasons = _ask(nvml, card, "CurrentClocksThrottleReasons")
    return reasons


def _read(nvml: Any, card: Any) -> _Reading:
    listed = _ask(nvml, card, "ComputeRunningProcesses")
    return _Reading(
        clock_mhz=_ask(nvml, card, "ClockInfo", nvml.NVML_CLOCK_SM),
        temperature_c=_ask(nvml, card, "Temperature", nvml.NVML_TEMPERATURE_GPU),
        power_mw=_ask(nvml, card, "PowerUsage"),
        reasons=_reasons(nvml, card),
        listed=None if listed is None else frozenset(process.pid for process in listed),
    )
