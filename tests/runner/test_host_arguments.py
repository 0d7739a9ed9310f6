"""Arguments that a submission gets in the host's memory, by C and by Python."""

import ctypes
import os
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch

from harness.runner.library import c_argument
from harness.runner.memory import ImportedHostArena
from harness.runner.python import TorchProgram
from harness.wire.arguments import TensorArgument

SHAPE = (3, -4, 1 << 20)
KNOWN = torch.tensor(SHAPE, dtype=torch.int32)
ARGUMENT = TensorArgument(
    base=0,
    stride=64,
    bytes=12,
    shape=(3,),
    strides=(1,),
    dtype="int32",
    on_host=KNOWN.view(torch.uint8).numpy().tobytes().hex(),
)


def test_c_gets_a_pointer_to_the_bytes_outside_the_arena() -> None:
    fd = os.memfd_create("arena")
    os.ftruncate(fd, 4096)
    with closing(ImportedHostArena(fd, 4096)) as arena:
        pointer = c_argument(ARGUMENT, 1, arena)
        address = ctypes.addressof(pointer)
        assert not arena.address <= address < arena.address + arena.size
        read = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int32))
        assert tuple(read[:3]) == SHAPE
        plain = c_argument(replace(ARGUMENT, on_host=""), 1, arena)
        assert plain.value == arena.address + 64


def test_python_gets_a_tensor_of_the_host() -> None:
    program: Any = SimpleNamespace(_torch=torch)
    whole = torch.zeros(128, dtype=torch.uint8)
    found: Any = TorchProgram._argument(program, ARGUMENT, 1, whole)
    assert torch.equal(found, KNOWN) and found.device.type == "cpu"
    found.zero_()  # its own in each call
    assert torch.equal(TorchProgram._argument(program, ARGUMENT, 1, whole), KNOWN)  # type: ignore[arg-type]
