"""A machine without a GPU: kernels are emulated, verdicts are full, times are shown, not ranked."""

import contextlib
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

from harness.device.base import Arena, Exclusive, Kind, round_up, sealed_memory
from harness.device.cpu_plan import CpuPlan
from harness.device.digest import digest_by_torch
from harness.device.workplace import Workplace
from harness.problem.terms import Expectation
from harness.sandbox import host_memory


class HostArena:
    """Shared host memory."""

    def __init__(self, size: int) -> None:
        self.size = round_up(size, mmap.PAGESIZE)
        self.fd = sealed_memory("arena", self.size)
        self.bytes = torch.frombuffer(mmap.mmap(self.fd, self.size), dtype=torch.uint8)

    def close(self) -> None:
        """Let go of it. The last view unmaps it: torch would not notice if it were gone before."""
        self.bytes = torch.empty(0, dtype=torch.uint8)
        os.close(self.fd)


class CpuDevice:
    """The host's processor, which emulates kernels; meets :class:`harness.device.base.Device`."""

    kind: Kind = "cpu"
    torch_device = "cpu"
    driver_version = ""
    toolkit_version = ""
    architecture: str | None = None
    emulated = True
    rankable = False
    captures_graphs = False
    patience = 3.0
    workplace: Workplace | None = None

    def __init__(self) -> None:
        self.name = _processor_name()

    def arena(self, size: int) -> Arena:
        """New shared host memory."""
        return HostArena(size)

    def flush(self) -> None:
        """Nothing: caches decide nothing where kernels are emulated."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def probe(self) -> float:
        """0: other programs' work cannot be told from the emulator's."""
        return 0.0

    def lag(self, *first: Callable[[], None]) -> float:
        """0, likewise; ``first`` are called."""
        for each in first:
            each()
        return 0.0

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """``work`` itself."""
        return work

    def read_times(self) -> None:
        """None: caches decide nothing where kernels are emulated."""

    def digest(self, rows: torch.Tensor, keys: torch.Tensor, into: torch.Tensor) -> None:
        """Write digests of rows, by torch."""
        digest_by_torch(rows, keys, into)

    def within(self, got: torch.Tensor, want: Expectation) -> None:
        """None: there is no kernel for that on a CPU, and torch compares."""

    def clock(self) -> None:
        """None: nothing is looked at while it runs."""

    def nodes(self) -> tuple[str, ...]:
        """None."""
        return ()

    def variables(self) -> dict[str, str]:
        """None."""
        return {}

    def settle(self, plan: CpuPlan | None = None, judges: int = 1) -> None:
        """Nothing: times that are not ranked may be taken on any processor."""

    def free_bytes(self) -> int:
        """Host memory that the system has to give; what only caches files is part of it."""
        return host_memory.free_bytes()

    def shared(self, waiting: Callable[[float], None]) -> AbstractContextManager[object]:  # noqa: ARG002
        """No lock: checks are right beside whatever else the machine does."""
        return nullcontext()

    @contextmanager
    def exclusive(self, waiting: Callable[[float], None]) -> Iterator[Exclusive]:  # noqa: ARG002
        """No lock and no monitor: times that are not ranked may share the machine."""
        yield Exclusive()


def _processor_name() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return os.uname().machine
