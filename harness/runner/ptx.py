"""A submission as PTX: built by the driver's own compiler, launched as the judge's messages ask."""

import ctypes
import os
from collections.abc import Callable
from functools import partial

from harness.runner.driver import PER_THREAD_STREAM, CudaError, Driver
from harness.runner.library import CValue, c_argument
from harness.runner.memory import ImportedArena
from harness.runner.program import GraphProgram, ProgramFailed
from harness.wire.arguments import KernelLaunch
from harness.wire.messages import FaultCode, Prepare

_NOT_FOUND = 500
_SHARED_WITHOUT_ASKING = 48 << 10
"""Bytes of shared memory that a launch may ask for without an attribute of the kernel."""


_Launch = Callable[[], None]


class PtxProgram(GraphProgram):
    """A module of kernels on the GPU; every call is the launches of the batch, in order."""

    def __init__(self, fd: int, driver: Driver) -> None:
        with os.fdopen(fd, "rb") as file:
            text = file.read()
        super().__init__(driver)
        try:
            self._module = driver.load_module(text)
        except CudaError as error:
            raise ProgramFailed(FaultCode.COMPILE, str(error)) from error
        self._launches: list[list[_Launch]] = []
        self._values: list[list[CValue]] = []

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        """Make the launches of every call; a graph of an earlier batch is forgotten."""
        self.begin(batch.calls)
        functions = [self._function(launch) for launch in batch.launches]
        # The arguments must outlive their addresses, which launches have.
        self._values = [
            [c_argument(each, index, arena) for each in batch.arguments]
            for index in range(batch.calls)
        ]
        self._launches = [
            [
                self._bound(function, launch, values)
                for function, launch in zip(functions, batch.launches, strict=True)
            ]
            for values in self._values
        ]

    def _bound(self, function: int, launch: KernelLaunch, values: list[CValue]) -> _Launch:
        given = [ctypes.addressof(values[i]) for i in launch.arguments]
        addresses = (ctypes.c_void_p * len(given))(*given)
        grid, block, shared = launch.grid, launch.block, launch.shared
        return partial(
            self.cuda.launch_kernel, function, grid, block, shared, PER_THREAD_STREAM, addresses
        )

    def _function(self, launch: KernelLaunch) -> int:
        try:
            function = self.cuda.function(self._module, launch.kernel)
        except CudaError as error:
            if error.code != _NOT_FOUND:
                raise
            message = f"the file has no kernel `{launch.kernel}`"
            raise ProgramFailed(FaultCode.NO_ENTRY, message) from error
        if launch.shared > _SHARED_WITHOUT_ASKING:
            self.cuda.allow_shared(function, launch.shared)
        return function

    def call(self, index: int) -> None:
        """Enqueue the launches of one call."""
        for launch in self._launches[index]:
            launch()
