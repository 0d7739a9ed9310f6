"""An NVIDIA GPU: memory shared through the driver, one timing at a time, watched through NVML."""

import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import torch

from harness.device import card_turns
from harness.device.affinity import pinned
from harness.device.base import Arena, Exclusive, Kind, OutOfDeviceMemory, round_up
from harness.device.cards import card_variables, device_nodes, driver_cards
from harness.device.cpu_plan import CpuPlan
from harness.device.device_clock import DeviceClock
from harness.device.digest import DigestKernel
from harness.device.lag import Lag
from harness.device.monitor import GpuMonitor
from harness.device.read_times import ReadTimes
from harness.device.within import Within
from harness.device.workplace import Workplace, host_plan
from harness.errors import MachineError
from harness.problem.terms import Expectation
from harness.runner.driver import OUT_OF_MEMORY, CudaError, Driver
from harness.runner.memory import card_bytes
from harness.text.numbers import bytes_

_COPIED = 4096
"""Bytes that a probe copies to the card and back."""

_LITTLE = 32
"""One part in so many of the free memory need not be given back."""


class DeviceArena:
    """Shared device memory: an exportable virtual-memory allocation, seen by torch as bytes."""

    def __init__(self, driver: Driver, size: int) -> None:
        self._driver = driver
        self.size = round_up(size, driver.granularity())
        self._handle = driver.create(self.size)
        self.fd = -1
        try:
            self.fd = driver.export_fd(self._handle)
            self._address = driver.map(self._handle, self.size)
        except CudaError:
            if self.fd >= 0:
                os.close(self.fd)
            driver.release(self._handle)
            raise
        mapped = card_bytes(self._address, self.size)
        self.bytes = torch.as_tensor(mapped, device=f"cuda:{driver.device}")

    def close(self) -> None:
        """Unmap and free."""
        torch.cuda.synchronize()
        self.bytes = torch.empty(0, dtype=torch.uint8)
        os.close(self.fd)
        self._driver.unmap(self._address, self.size, self._handle)


class CudaDevice:
    """One NVIDIA GPU; meets :class:`harness.device.base.Device`."""

    kind: Kind = "cuda"
    emulated = False
    rankable = True
    captures_graphs = True
    patience = 1.0
    workplace: Workplace | None = None

    def __init__(self, index: int = 0) -> None:
        self.torch_device = f"cuda:{index}"
        with contextlib.ExitStack() as turn:  # a context that is made disturbs others' times
            for card in driver_cards()[index : index + 1]:
                turn.enter_context(card_turns.beside_others(card.uuid, lambda _: None))
            self._open(index)

    def _open(self, index: int) -> None:
        torch.cuda.set_device(index)
        torch.empty(1, device=self.torch_device)  # makes the context
        self.driver = Driver(index)
        properties = torch.cuda.get_device_properties(index)
        self.name: str = properties.name
        self.uuid = str(properties.uuid)
        self.bus = self.driver.bus()
        self.driver_version = _driver_version()
        self.toolkit_version = torch.version.cuda or ""
        self.architecture: str | None = f"sm_{properties.major}{properties.minor}"
        # Twice the L2's size: writing it leaves nothing of a batch in the cache.
        self._flush = torch.empty(2 * properties.L2_cache_size // 4, device=self.torch_device)
        self._generation = 0
        self._read_times: ReadTimes | None = None
        self._clock: DeviceClock | None = None
        self._lag: Lag | None = None
        self._digest = DigestKernel(self.driver)
        self._within = Within(self.driver)
        # For the copy engines, which work beside the kernels.
        self._host = torch.zeros(_COPIED, dtype=torch.uint8, pin_memory=True)
        self._sent = torch.zeros(_COPIED, dtype=torch.uint8, device=self.torch_device)

    def arena(self, size: int) -> Arena:
        """New shared device memory; torch's cache, which may hold most of it, goes back first."""
        self._tidy()
        try:
            return DeviceArena(self.driver, size)
        except CudaError as error:
            if error.code == OUT_OF_MEMORY:
                what = f"cannot allocate {bytes_(size)} on {self.name}"
                raise OutOfDeviceMemory(what, str(error)) from error
            raise MachineError(f"cannot share {size} bytes of {self.name}: {error}") from error

    def flush(self) -> None:
        """Write twice the L2's size with new values, and make persisting lines normal."""
        self._generation += 1
        self._flush.fill_(float(self._generation))
        self.driver.reset_persisting_l2()

    def synchronize(self) -> None:
        """Wait for the judge's context."""
        torch.cuda.synchronize()

    def probe(self) -> float:
        """Flush and copy a little each way: work of another process makes these wait their turn."""
        self.synchronize()
        return self._seconds((self.flush, self._copy))

    def lag(self, *first: Callable[[], None]) -> float:
        """``first``, then as a probe, timed on the card; by the host where its clock is coarse."""
        if self._lag is None and (clock := self.clock()) is not None:
            self._lag = Lag(clock, self.torch_device)
        steps = (*first, self.flush, self._copy)
        return self._seconds(steps) if self._lag is None else self._lag.seconds(steps)

    def _seconds(self, steps: Sequence[Callable[[], None]]) -> float:
        """Seconds for ``steps`` by the host's clock; waits for them."""
        start = time.perf_counter()
        for step in steps:
            step()
        self.synchronize()
        return time.perf_counter() - start

    def _copy(self) -> None:
        """Copy a little each way; returns before the device has."""
        self._sent.copy_(self._host, non_blocking=True)
        self._host.copy_(self._sent, non_blocking=True)

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """``work`` as a CUDA graph: nothing comes between its kernels but other processes."""
        work()  # libraries make their workspaces in their first call, which none may capture
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            work()
        return graph.replay

    def read_times(self) -> ReadTimes | None:
        """A timer of single reads, calibrated the first time: the card must be idle."""
        if self._read_times is None:
            self._read_times = ReadTimes(self.driver, self.torch_device, self.flush)
        return self._read_times if self._read_times.cached_below else None

    def digest(self, rows: torch.Tensor, keys: torch.Tensor, into: torch.Tensor) -> None:
        """Write digests of rows, by a kernel of our own."""
        self._digest(rows, keys, into)

    def within(self, got: torch.Tensor, want: Expectation) -> torch.Tensor | None:
        """Whether an output is right beyond doubt, by a kernel of our own."""
        return self._within(got, want)

    def clock(self) -> DeviceClock | None:
        """The card's clock, held against the host's the first time."""
        if self._clock is None:
            self._clock = DeviceClock(self.driver, self.torch_device)
        return self._clock if self._clock.fine else None

    def nodes(self) -> tuple[str, ...]:
        """The driver's and the card's own; those of all cards where that is not known."""
        return device_nodes(self.bus, self.name)

    def variables(self) -> dict[str, str]:
        """The card as the only one that CUDA shows."""
        return card_variables(self.uuid, self.name)

    def settle(self, plan: CpuPlan | None = None, judges: int = 1) -> None:
        """Take the card's seat, and keep off those of others."""
        if plan is None:
            plan = host_plan(self.bus, [card.bus for card in driver_cards()])
        self.workplace = Workplace(self.bus, plan, judges=judges)
        self.workplace.settle()
        # The host has little to compute, and compilers on most of its processors: threads of torch
        # would wait for each other. Inputs are drawn by several threads that do not.
        torch.set_num_threads(1)
        # All that torch is made of: else each collection of garbage looks at it for 0.15 s, in
        # which nobody sees that a batch is done.
        gc.freeze()

    def free_bytes(self) -> int:
        """Free device memory by the driver, but for a little that torch may keep."""
        self._tidy()
        return int(torch.cuda.mem_get_info()[0])

    def _tidy(self) -> None:
        """Have torch give back what it keeps for later, unless that is little of what is free.

        It takes 5 to 20 ms, and a grade asks several times.
        """
        kept = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        if kept * _LITTLE > torch.cuda.mem_get_info()[0]:
            torch.cuda.empty_cache()

    def shared(self, waiting: Callable[[float], None]) -> AbstractContextManager[object]:
        """Use the card beside other judges, while nobody takes times there."""
        return card_turns.beside_others(self.uuid, waiting)

    @contextmanager
    def exclusive(self, waiting: Callable[[float], None]) -> Iterator[Exclusive]:
        """Have the card and its seat alone on this machine, watch it, pin timed runners there."""
        place = self.workplace
        seat = pinned(self.bus, partial(place.timed, waiting)) if place else pinned(self.bus)
        with (
            card_turns.alone(self.uuid, waiting) as turn,
            seat as runner_cpu,
            GpuMonitor(self.uuid) as monitor,
        ):
            yield Exclusive(monitor, runner_cpu, turn.warm(), turn.note_warm)


def _driver_version() -> str:
    with contextlib.suppress(OSError):
        return Path("/sys/module/nvidia/version").read_text(encoding="ascii").strip()
    return ""
