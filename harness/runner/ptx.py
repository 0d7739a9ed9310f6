"""A submission as PTX: built by the driver's own compiler, launched as the judge says."""

import ctypes
import os
from typing import Any, NamedTuple

from harness.runner.cuda_graph import GraphProgram
from harness.runner.driver import PER_THREAD_STREAM, CudaError, Driver
from harness.runner.library import argument
from harness.runner.memory import ImportedArena
from harness.runner.program import BoundCalls, Failed
from harness.wire import FaultCode

_NOT_FOUND = 500
_SHARED_WITHOUT_ASKING = 48 << 10
"""Bytes of shared memory that a launch may ask for without an attribute of the kernel."""


class _Launch(NamedTuple):
    function: int
    grid: list[int]
    block: list[int]
    shared: int
    arguments: Any


class PtxProgram(GraphProgram):
    """A module of kernels on the GPU; every call is the launches of the batch, in order."""

    def __init__(self, fd: int, driver: Driver) -> None:
        with os.fdopen(fd, "rb") as file:
            text = file.read()
        super().__init__(driver)
        try:
            self._module = driver.load_module(text)
        except CudaError as error:
            raise Failed(FaultCode.COMPILE, str(error)) from error
        self._bound: list[list[_Launch]] = []
        self._kept: list[Any] = []

    def bind(self, batch: BoundCalls, arena: ImportedArena) -> None:
        """Make the launches of every call; a graph of an earlier batch is forgotten."""
        self.begin(batch.calls)
        functions = [self._function(launch) for launch in batch.launches]
        self._bound, self._kept = [], []
        for index in range(batch.calls):
            values = [argument(spec, index, arena) for spec in batch.arguments]
            self._kept.append(values)
            self._bound.append(
                [
                    _Launch(
                        function,
                        launch["grid"],
                        launch["block"],
                        launch["shared"],
                        _addresses([values[each] for each in launch["arguments"]]),
                    )
                    for function, launch in zip(functions, batch.launches, strict=True)
                ]
            )

    def _function(self, launch: dict[str, Any]) -> int:
        try:
            function = self._driver.function(self._module, launch["kernel"])
        except CudaError as error:
            if error.code != _NOT_FOUND:
                raise
            message = f"the file has no kernel `{launch['kernel']}`"
            raise Failed(FaultCode.NO_ENTRY, message) from error
        if launch["shared"] > _SHARED_WITHOUT_ASKING:
            self._driver.allow_shared(function, launch["shared"])
        return function

    def call(self, index: int) -> None:
        """Enqueue the launches of one call."""
        for each in self._bound[index]:
            self._driver.launch_kernel(
                each.function, each.grid, each.block, each.shared, PER_THREAD_STREAM, each.arguments
            )

    def synchronize(self) -> None:
        """Wait for the device; what a kernel did wrong is reported here."""
        self._driver.synchronize()


def _addresses(values: list[Any]) -> Any:
    """What ``cuLaunchKernel`` wants: where each argument lies. They must outlive the array."""
    return (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
