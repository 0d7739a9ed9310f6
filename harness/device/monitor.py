"""The card's conditions while a submission was timed: clocks, heat, power, throttling, company.

They are read through NVML, by the judge between batches: a thread that reads would now and then
keep the judge from looking at its clock. A time that was taken while the hardware slowed the card
down, or while another program used it, says nothing about the submission; a wide interval alone
does not tell why.
"""

import contextlib
import math
import os
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.records.measurement import (
    Conditions,
    describe_conditions,
    describe_other_processes,
)
from harness.sandbox import processes

EVERY_S = 0.05
STEADY = 0.7
"""The SM clock's lowest must be at least this share of its highest."""

# Bits of NVML's header nvml.h, which calls them nvmlClocksEventReason… (nvmlClocksThrottleReason…
# before CUDA 12.2); the last two are in nvidia-ml-py alone so far. Applications' and display clock
# settings (0x2, 0x100) are clocks that somebody chose, and no throttling.
_IDLE = 0x1
_REASONS = {
    0x4: "power cap",
    0x8: "hw slowdown",
    0x10: "sync boost",
    0x20: "thermal",  # by the driver
    0x40: "thermal",  # by the hardware
    0x80: "power brake",
    0x200: "board limit",
    0x400: "reliability",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One look at the card; None is what it did not tell. ``at_work``: between two batches."""

    at_work: bool
    clock_mhz: int | None
    temperature_c: int | None
    power_mw: int | None
    reasons: int | None
    listed: frozenset[int] | None

    def empty(self) -> bool:
        seen = (self.clock_mhz, self.temperature_c, self.power_mw, self.reasons, self.listed)
        return all(part is None for part in seen)


class GpuMonitor:
    """Reads the card while it is entered, whenever :meth:`read` is called, but not too often.

    ``device`` is the card's UUID, with or without its prefix ``GPU-`` (torch's has none), or
    NVML's index. Prefer the UUID: CUDA counts cards in another order, and only the visible ones.
    Entering reads at once, leaving once more; entered again, readings add up. It is silent where
    there is no NVML: :meth:`conditions` is None then.

    Whose processes are on the card: ours are this process, those below it, and those that ``ours``
    names; one that was ours once stays ours, since a dying
    runner may lose its parent first. Another program's is one that runs here, visible in /proc, and
    is none of ours. In a container NVML may list nothing, or the process ids of the host, which
    mean something else here. So other programs are counted only if a process of ours was listed at
    some time, which proves that the numbers are of this namespace (the judge has the card open
    while it grades, so it is listed). Otherwise ``other_processes`` is 0: rather a stranger missed
    than an honest time thrown away.
    """

    def __init__(
        self,
        device: str | int,
        ours: Callable[[], Collection[int]] = lambda: (),
        *,
        every_s: float = EVERY_S,
    ) -> None:
        self._device = device
        self._named = ours
        self._every_s = every_s
        self._readings: list[_Reading] = []
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is None:
            return
        self._read(at_work=False)
        nvml, _ = self._opened
        self._opened = None
        with contextlib.suppress(nvml.NVMLError):
            nvml.nvmlShutdown()

    def read(self) -> None:
        """Read the card, which was at work just now, if the last time is long enough ago.

        Takes about a millisecond.
        """
        if time.monotonic() - self._last >= self._every_s:
            self._read(at_work=True)

    def _read(self, *, at_work: bool) -> None:
        if self._opened is None:
            return
        self._last = time.monotonic()
        reading = _read(*self._opened, at_work=at_work)
        if not reading.empty():
            self._look_around(reading.listed or frozenset())
            self._readings.append(reading)

    def conditions(self) -> Conditions | None:
        """What was read so far; None if the card told nothing."""
        readings = self._readings
        if not readings:
            return None
        # An idle card lowers its clock by itself, which is no news about the time of a kernel.
        clocks = [
            r.clock_mhz
            for r in readings
            if r.at_work and r.clock_mhz and not (r.reasons or 0) & _IDLE
        ]
        reasons = {name for r in readings for name in _names(r.reasons or 0)}
        return Conditions(
            clock_mhz=(min(clocks), max(clocks)) if clocks else (0, 0),
            temperature_c=max((r.temperature_c or 0) for r in readings),
            power_w=max((r.power_mw or 0) for r in readings) / 1000,
            throttle=tuple(sorted(reasons)),
            other_processes=self._company if self._recognised else 0,
            readings=len(readings),
        )

    def _look_around(self, listed: frozenset[int]) -> None:
        """Tell strangers among the ``listed`` process ids from ours."""
        unknown = listed - self._ours - self._strangers
        here = {pid for pid in unknown if Path(f"/proc/{pid}").exists()}
        if here:  # the walk through /proc takes milliseconds, and the judge waits meanwhile
            judge = os.getpid()
            family = {judge, *self._named(), *processes.descendants(judge)}
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
    found = []
    if "hw slowdown" in conditions.throttle:
        found.append("the card's hardware slowed it down: check its cooling and power supply")
    if "thermal" in conditions.throttle:
        found.append("the card slowed down because it was hot: cool it, or let it rest")
    if "power brake" in conditions.throttle:
        found.append("the power supply made the card slow down: check the power supply")
    if conditions.other_processes:
        company = describe_other_processes(conditions.other_processes)
        found.append(f"{company} used the card: end what else runs there")
    if low < STEADY * high:
        found.append(
            f"the SM clock fell to {100 * low / high:.0f} % of its highest, under "
            f"{100 * STEADY:.0f} %: let the card rest, or lock its clock (nvidia-smi -lgc)"
        )
    return "; ".join(found)


def _names(reasons: int) -> Iterator[str]:
    return (name for bit, name in _REASONS.items() if reasons & bit)


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


def _read(nvml: Any, card: Any, *, at_work: bool) -> _Reading:
    """Ask the card for everything. NVML tells power in milliwatts."""

    def ask(name: str, *arguments: object) -> Any:
        try:
            return getattr(nvml, name)(card, *arguments)
        except nvml.NVMLError:  # not supported by this card, or by this driver
            return None

    reasons = ask("nvmlDeviceGetCurrentClocksEventReasons")
    if reasons is None:  # a driver from before CUDA 12.2 knows the old name only
        reasons = ask("nvmlDeviceGetCurrentClocksThrottleReasons")
    listed = ask("nvmlDeviceGetComputeRunningProcesses")
    return _Reading(
        at_work=at_work,
        clock_mhz=ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM),
        temperature_c=ask("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU),
        power_mw=ask("nvmlDeviceGetPowerUsage"),
        reasons=reasons,
        listed=None if listed is None else frozenset(process.pid for process in listed),
    )
