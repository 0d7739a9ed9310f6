"""The judge's argument buffers as seen from the runner: one arena, mapped from a descriptor."""

import ctypes
import mmap
import os
from types import SimpleNamespace

from harness.runner.driver import Driver


def card_bytes(address: int, size: int) -> SimpleNamespace:
    """Mapped memory of a card, as ``torch.as_tensor`` takes it: ``size`` bytes, not copied."""
    interface = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}
    return SimpleNamespace(__cuda_array_interface__=interface)


class ImportedHostArena:
    """Shared host memory (a sealed memfd)."""

    def __init__(self, fd: int, size: int) -> None:
        self.size = size
        self.buffer = mmap.mmap(fd, size)
        os.close(fd)
        self._anchor = ctypes.c_char.from_buffer(self.buffer)
        self.address = ctypes.addressof(self._anchor)

    def clear(self, start: int, size: int) -> None:
        """Set ``size`` bytes from ``start`` on to 0."""
        ctypes.memset(self.address + start, 0, size)

    def close(self) -> None:
        """Leave the mapping to the end of the process: tensors of the submission may hold it."""


class ImportedDeviceArena:
    """Shared device memory (a CUDA virtual-memory allocation)."""

    def __init__(self, driver: Driver, fd: int, size: int) -> None:
        self.size = size
        self._driver = driver
        self._handle = driver.import_fd(fd)
        os.close(fd)
        self.address = driver.map(self._handle, size)

    def clear(self, start: int, size: int) -> None:
        """Set ``size`` bytes from ``start`` on to 0, once all work is done that was begun."""
        self._driver.clear(self.address + start, size)

    def close(self) -> None:
        """Unmap it, so that the judge can give the memory back to the card."""
        self._driver.unmap(self.address, self.size, self._handle)


ImportedArena = ImportedHostArena | ImportedDeviceArena
