"""The judge's own kernels: one in a file of PTX beside this one, by whose name both are called."""

import ctypes
from pathlib import Path

import torch
from torch import Tensor

from harness.runner.driver import Driver


class OwnKernel:
    """A kernel whose parameters are all pointers; built when it is made."""

    def __init__(self, driver: Driver, name: str) -> None:
        self._driver = driver
        module = driver.load_module(Path(__file__).with_name(f"{name}.ptx").read_bytes())
        self._function = driver.function(module, name)

    def launch(self, blocks: int, *tensors: Tensor) -> None:
        """Run it in blocks of one thread each, on torch's stream; returns before it has run."""
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
        arguments = (ctypes.c_void_p * len(pointers))(*map(ctypes.addressof, pointers))
        stream = torch.cuda.current_stream().cuda_stream
        grid, one = (blocks, 1, 1), (1, 1, 1)
        self._driver.launch_kernel(self._function, grid, one, 0, stream, arguments)
