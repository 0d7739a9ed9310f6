"""The judge's buffers: an arena of host or device memory that a runner can map."""

import contextlib
import fcntl
import math
import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

import torch

from harness.errors import MachineError
from harness.runner.driver import CudaError, Driver
from harness.text.numbers import bytes_

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def sealed_memory(name: str, size: int) -> int:
    """A memfd of ``size`` bytes that nobody can resize (a truncated one would kill its reader)."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd


class Arena(Protocol):
    """Memory that judge and runner share; ``bytes`` is a uint8 tensor over all of it."""

    size: int
    fd: int
    bytes: torch.Tensor

    def close(self) -> None:
        """Give the memory back once the runner has let go of it, too."""


class HostArena:
    """Shared host memory."""

    def __init__(self, size: int) -> None:
        self.size = _round_up(size, mmap.PAGESIZE)
        self.fd = sealed_memory("arena", self.size)
        self.bytes = torch.frombuffer(mmap.mmap(self.fd, self.size), dtype=torch.uint8)

    def close(self) -> None:
        """Let go of it. The last view unmaps it: torch would not notice if it were gone before."""
        self.bytes = torch.empty(0, dtype=torch.uint8)
        os.close(self.fd)


class DeviceArena:
    """Shared device memory: an exportable virtual-memory allocation, seen by torch as bytes.

    Raises:
        MachineError: the device has not that much memory.
    """

    def __init__(self, driver: Driver, size: int) -> None:
        self._driver = driver
        self.size = _round_up(size, driver.granularity())
        try:
            self._handle = driver.create(self.size)
        except CudaError as error:
            raise MachineError(f"cannot allocate {self.size} bytes on the GPU: {error}") from error
        self.fd = driver.export_fd(self._handle)
        self._address = driver.map(self._handle, self.size)
        self.__cuda_array_interface__ = {
            "shape": (self.size,),
            "typestr": "|u1",
            "data": (self._address, False),
            "version": 3,
        }
        self.bytes = torch.as_tensor(self, device=f"cuda:{driver.device}")

    def close(self) -> None:
        """Unmap and free."""
        torch.cuda.synchronize()
        self.bytes = torch.empty(0, dtype=torch.uint8)
        os.close(self.fd)
        self._driver.unmap(self._address, self.size, self._handle)


class Device:
    """Where submissions run: how to make arenas there, flush its cache, and wait for it."""

    kind: Literal["cuda", "cpu"] = "cpu"
    name: str
    torch_device: str = "cpu"
    driver_version: str = ""
    toolkit_version: str = ""
    pinned_cpu: int | None = None
    """The processor that runners share while they are timed; None: any, as the system likes."""

    def __init__(self) -> None:
        self.name = _cpu_name()

    def arena(self, size: int) -> Arena:
        """New shared memory of at least ``size`` bytes."""
        return HostArena(size)

    def flush(self) -> None:
        """Put the caches into the state that every timed batch starts from."""

    def synchronize(self) -> None:
        """Wait for the judge's own work on the device."""

    def probe(self) -> float:
        """Flush, and say how many seconds that took: longer than ever where others are at work."""
        self.flush()
        return 0.0

    def nodes(self) -> tuple[str, ...]:
        """The files under /dev that a runner needs to use it."""
        return ()

    def free_bytes(self) -> int:
        """Memory that can be allocated now."""
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class CudaDevice(Device):
    """One NVIDIA GPU."""

    kind = "cuda"

    def __init__(self, index: int = 0) -> None:
        self.torch_device = f"cuda:{index}"
        torch.cuda.set_device(index)
        torch.empty(1, device=self.torch_device)
        self.driver = Driver(index)
        properties = torch.cuda.get_device_properties(index)
        self.name = properties.name
        self.uuid = str(properties.uuid)
        self.bus = self.driver.bus()
        self.driver_version = _nvidia_driver_version()
        self.toolkit_version = torch.version.cuda or ""
        self.capability = (properties.major, properties.minor)
        self._flush = torch.empty(2 * properties.L2_cache_size // 4, device=self.torch_device)
        self._generation = 0

    def arena(self, size: int) -> Arena:
        """New shared device memory."""
        return DeviceArena(self.driver, size)

    def flush(self) -> None:
        """Write twice the L2's size with new values, and make persisting lines normal."""
        self._generation += 1
        self._flush.fill_(float(self._generation))
        self.driver.reset_persisting_l2()

    def synchronize(self) -> None:
        """Wait for the judge's context."""
        torch.cuda.synchronize()

    def probe(self) -> float:
        """Flush and wait for it; a kernel of another process makes that wait its turn."""
        self.synchronize()
        start = time.perf_counter()
        self.flush()
        self.synchronize()
        return time.perf_counter() - start

    def nodes(self) -> tuple[str, ...]:
        """The driver's, with those of all cards."""
        return tuple(str(path) for path in sorted(Path("/dev").glob("nvidia*")))

    def free_bytes(self) -> int:
        """Free device memory as the driver tells it, once torch has let go of what it keeps."""
        torch.cuda.empty_cache()
        return int(torch.cuda.mem_get_info()[0])


def crowded_out(device: Device, end: Callable[[], None]) -> str:
    """Whether a submission, whose processes ``end`` ends, has most of what memory there is.

    Then it is its own doing that there is no room beside it. Returns a message, or nothing.
    """
    beside = device.free_bytes()
    end()
    without = device.free_bytes()
    held = without - beside
    if held <= without / 2:
        return ""
    return (
        f"holds {bytes_(held)} of the memory of {device.name}, of which {bytes_(without)} are "
        "free without it: there is no room for its inputs and outputs"
    )


def _round_up(size: int, unit: int) -> int:
    return max(1, math.ceil(size / unit)) * unit


def _nvidia_driver_version() -> str:
    with contextlib.suppress(OSError):
        return Path("/sys/module/nvidia/version").read_text(encoding="ascii").strip()
    return ""


def _cpu_name() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return os.uname().machine
