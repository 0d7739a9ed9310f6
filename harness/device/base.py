"""The Protocol of the device that submissions run on.

A new kind of device is one module that meets :class:`Device`, and an entry in
:mod:`harness.device.choose`. Nothing else asks which kind it has in hand.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

import torch

from harness.device.cpu_plan import CpuPlan
from harness.device.workplace import Workplace
from harness.errors import MachineError
from harness.problem.terms import Expectation
from harness.records.measurement import Conditions
from harness.text.numbers import bytes_
from harness.wire.memory import sealed_memory as sealed_memory

Kind = Literal["cuda", "cpu"]
"""How records and commands name a kind of device."""


class OutOfDeviceMemory(MachineError):
    """The device has not that much memory to give now: with less, one may go on."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(
            f"{what}: {why}; end the programs that hold its memory (on a GPU nvidia-smi shows "
            "them), or take a device that has more"
        )
        self.why = why


class Arena(Protocol):
    """Memory that judge and runner share."""

    size: int
    """Bytes."""
    fd: int
    """The descriptor that the runner maps it by."""
    bytes: torch.Tensor
    """All of it as uint8, shape ``(size,)``, on the device."""

    def close(self) -> None:
        """Give the memory back once the runner has let go of it, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReading:
    """The clocks of a device at work."""

    sm_mhz: int
    memory_mhz: int
    capped: bool
    """A power cap holds them down, so they follow the load."""


class Monitor(Protocol):
    """Watches a device while times are taken on it."""

    def read(self) -> None:
        """Look at the device now, between two batches."""

    def clocks(self) -> ClockReading | None:
        """The clocks now, just after a batch; None if they are not known or the device is idle."""

    def conditions(self) -> Conditions | None:
        """What was seen so far; None if the device reported nothing."""


@dataclass(frozen=True, slots=True)
class Exclusive:
    """A locked device: its monitor, if there is one, and the processor of all timed runners.

    That is away from the judge's; None for any.
    """

    monitor: Monitor | None = None
    runner_cpu: int | None = None
    warm: bool = False
    """Whether somebody has warmed it up a few seconds ago."""
    note_warm: Callable[[], None] = lambda: None
    """Tells who comes next that it is warm."""


class ReadTimer(Protocol):
    """Measures how long single words take to be read."""

    @property
    def cached_below(self) -> float:
        """Cycles: a read that takes less came from the cache."""

    def measure(self, words: torch.Tensor, places: torch.Tensor, cycles: torch.Tensor) -> None:
        """Write the cycles that reading each of ``words`` at ``places`` took; 0: unknown.

        All are int64, ``places`` and ``cycles`` of one length. Returns before it is done.
        """


class Clock(Protocol):
    """A device's own clock."""

    def write(self, into: torch.Tensor) -> None:
        """Write its nanoseconds into one int64 of the device; returns before it is done."""

    def ahead_s(self) -> float:
        """Seconds that it is ahead of :func:`time.perf_counter` just now."""


class Device(Protocol):
    """Where submissions run: its facts, its memory, and how it is held still for a timing."""

    kind: Kind
    """Names it in records; never asked for in a decision."""
    name: str
    """As the device calls itself, such as ``NVIDIA H100 80GB HBM3``."""
    torch_device: str
    """Where torch keeps the judge's tensors for it, such as ``cuda:0``."""
    driver_version: str
    """Empty where there is no driver."""
    toolkit_version: str
    """Of the toolkit that torch was built with; empty for none."""
    architecture: str | None
    """Target of the compilers, such as ``sm_90``; None: the user's choice."""
    emulated: bool
    """Kernels are executed by an emulator on the host: small cases, several orders of threads."""
    rankable: bool
    """Times taken here may stand on a board."""
    captures_graphs: bool
    """Calls can be recorded once and launched together; then launch overhead is measured, too."""
    patience: float
    """How many times as long as the problem's limit says a call may take here."""
    workplace: Workplace | None
    """The processors of its judge; None for any."""

    def arena(self, size: int) -> Arena:
        """New shared memory of at least ``size`` bytes.

        What the judge's own allocator keeps for later is given back first.

        Raises:
            OutOfDeviceMemory: the device has not that much memory.
            MachineError: it cannot be shared.
        """

    def flush(self) -> None:
        """Put the caches into the state that every timed batch starts from."""

    def synchronize(self) -> None:
        """Wait for the judge's own work on the device."""

    def probe(self) -> float:
        """Seconds that a flush and a small copy each way take: more where other work is there.

        The judge's own work is waited for before.
        """

    def lag(self, *first: Callable[[], None]) -> float:
        """Seconds that the device takes for what ``first`` launch, a flush and small copies.

        Not those in which the host launches.
        """

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """A function that does ``work`` again, which always uses the same tensors, in one go.

        It returns before the device has done so. ``work`` is done once or twice meanwhile.
        """

    def read_times(self) -> ReadTimer | None:
        """What tells cached words from others; None where that cannot be told."""

    def digest(self, rows: torch.Tensor, keys: torch.Tensor, into: torch.Tensor) -> None:
        """Write digests of rows, as :mod:`harness.device.digest` says; not waited for."""

    def within(self, got: torch.Tensor, want: Expectation) -> torch.Tensor | None:
        """Whether an output of the device is right beyond doubt, told by a kernel of its own.

        A bool without dimensions, not waited for. None: there is none for such outputs.
        """

    def clock(self) -> Clock | None:
        """What tells when work of the judge's was done; None where it is too coarse."""

    def nodes(self) -> tuple[str, ...]:
        """The files under /dev that a runner needs to use it, and none of another device."""

    def variables(self) -> Mapping[str, str]:
        """Environment variables that make it the device that a runner finds first."""

    def settle(self, plan: CpuPlan | None = None, judges: int = 1) -> None:
        """Take a workplace, as one of so many ``judges`` of a host with this ``plan``.

        Without one by the plan that judges make by themselves. All threads of this process, which
        must be a judge's own, keep off the seats of others from now on.

        Raises:
            MachineError: there is no place for locks that all users of this machine share.
        """

    def free_bytes(self) -> int:
        """Memory that can be allocated now."""

    def shared(self, waiting: Callable[[float], None]) -> AbstractContextManager[object]:
        """Use the device while nobody takes times on it; others may use it likewise.

        As :meth:`exclusive`, which may be entered meanwhile: then others' turns may come first.
        """

    def exclusive(self, waiting: Callable[[float], None]) -> AbstractContextManager[Exclusive]:
        """Have the device to oneself and watch it while times are taken.

        ``waiting`` is called now and then with the seconds so far while another grade holds it.

        Raises:
            MachineError: there is no place for a lock that all users of this machine share.
        """


def round_up(size: int, unit: int) -> int:
    """The least multiple of ``unit`` that holds ``size``, and at least one of it."""
    return max(1, math.ceil(size / unit)) * unit


def crowded_out(device: Device, end: Callable[[], None], mapped: int) -> str:
    """Why there is no memory left, if a submission holds most of it; empty if it does not.

    ``end`` ends the submission's processes, which shows how much they held. ``mapped`` bytes of
    that are the judge's: buffers that it has let go of are there until then.
    """
    before = device.free_bytes()
    end()
    after = device.free_bytes()
    held = after - before - mapped
    if held <= after / 2:
        return ""
    return (
        f"holds {bytes_(held)} of the memory of {device.name}, of which {bytes_(after)} "
        "are free without it: there is no room for its inputs and outputs"
    )
