"""The judge's own kernels: one in a file of PTX beside this one, by whose name both are called."""

import ctypes
from pathlib import Path

import torch
from torch import Tensor

from harness.runner.driver import Driver


class OwnKernel:
    """A kernel of which each parameter has 64 bits; built when it is made."""

    def __init__(self, driver: Driver, name: str) -> None:
        self._driver = driver
        module = driver.load_module(Path(__file__).with_name(f"{name}.ptx").read_bytes())
        self._function = driver.function(module, name)

    def launch(self, blocks: int, *given: Tensor | int | float, threads: int = 1) -> None:
        """Run it in blocks of so many threads, on torch's stream; returns before it has run.

        ``given`` are its arguments: of a tensor where it lies, of a number a u64 or f64.
        """
        values = [_value(each) for each in given]
        arguments = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        stream = torch.cuda.current_stream().cuda_stream
        grid, block = (blocks, 1, 1), (threads, 1, 1)
        self._driver.launch_kernel(self._function, grid, block, 0, stream, arguments)


def _value(given: Tensor | int | float) -> ctypes.c_uint64 | ctypes.c_double:
    if isinstance(given, float):
        return ctypes.c_double(given)
    return ctypes.c_uint64(given if isinstance(given, int) else given.data_ptr())
