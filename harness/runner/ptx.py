"""A submission as PTX: built by the driver's own compiler, launched as the judge's messages ask."""

import ctypes
import os
from typing import NamedTuple

from harness.runner.driver import PER_THREAD_STREAM, CudaError, Driver
from harness.runner.library import CValue, c_argument
from harness.runner.memory import ImportedArena
from harness.runner.program import GraphProgram, ProgramFailed
from harness.wire.arguments import KernelLaunch
from harness.wire.messages import FaultCode, Prepare

_NOT_FOUND = 500
_SHARED_WITHOUT_ASKING = 48 << 10
"""Bytes of shared memory that a launch may ask for without an attribute of the kernel."""


class _BoundLaunch(NamedTuple):
    function: int
    launch: KernelLaunch
    addresses: "ctypes.Array[ctypes.c_void_p]"
    """Addresses of the arguments, as ``cuLaunchKernel`` wants them."""
    values: list[CValue]
    """The arguments, which must outlive their addresses."""


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
        self._bound: list[list[_BoundLaunch]] = []

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        """Make the launches of every call; a graph of an earlier batch is forgotten."""
        self.begin(batch.calls)
        functions = [self._function(launch) for launch in batch.launches]
        self._bound = []
        for index in range(batch.calls):
            values = [c_argument(each, index, arena) for each in batch.arguments]
            self._bound.append(
                [
                    _bound_launch(function, launch, [values[i] for i in launch.arguments])
                    for function, launch in zip(functions, batch.launches, strict=True)
                ]
            )

    def _function(self, launch: KernelLaunch) -> int:
        try:
            function = self._driver.function(self._module, launch.kernel)
        except CudaError as error:
            if error.code != _NOT_FOUND:
                raise
            message = f"the file has no kernel `{launch.kernel}`"
            raise ProgramFailed(FaultCode.NO_ENTRY, message) from error
        if launch.shared > _SHARED_WITHOUT_ASKING:
            self._driver.allow_shared(function, launch.shared)
        return function

    def call(self, index: int) -> None:
        """Enqueue the launches of one call."""
        for function, launch, addresses, _ in self._bound[index]:
            self._driver.launch_kernel(
                function, launch.grid, launch.block, launch.shared, PER_THREAD_STREAM, addresses
            )

    def synchronize(self) -> None:
        """Wait for the device; what a kernel did wrong is reported here."""
        self._driver.synchronize()


def _bound_launch(function: int, launch: KernelLaunch, values: list[CValue]) -> _BoundLaunch:
    addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    return _BoundLaunch(function, launch, addresses, values)
