"""PTX in a runner, with a driver that is made up."""

# ruff: noqa: N802  (the made-up driver's functions have the driver's names)

import ctypes
import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.runner.driver import CudaError, Driver
from harness.runner.memory import ImportedArena
from harness.runner.program import ProgramFailed
from harness.runner.ptx import PtxProgram
from harness.wire.arguments import KernelLaunch, ScalarArgument, TensorArgument
from harness.wire.messages import FaultCode, Prepare

ARGUMENTS = (
    TensorArgument(base=4096, stride=512, bytes=4, shape=(1,), strides=(1,), dtype="float32"),
    ScalarArgument(ctype="float", value=0.5),
    ScalarArgument(ctype="size_t", value=9),
)
LAUNCH = KernelLaunch(kernel="k", grid=(4, 1, 1), block=(32, 2, 1), shared=0, arguments=(0, 2))
ARENA = cast(ImportedArena, SimpleNamespace(address=1 << 40, size=1 << 20))


class MadeUp:
    """Builds any text but one that says ``broken``; the file has the kernels ``k`` and ``l``."""

    def __init__(self) -> None:
        self.launches: list[tuple[Any, ...]] = []
        self.shared: list[int] = []
        self.begun = 0

    def cuGetErrorString(self, code: int, text: Any) -> int:
        text._obj.value = f"error {code}".encode()
        return 0

    def cuModuleLoadDataEx(
        self, module: Any, text: bytes, count: Any, options: Any, values: Any
    ) -> int:
        assert list(options) == [5, 6]
        if b"broken" in text:
            assert values[1] == 4096
            ctypes.memmove(values[0], b"line 3: no\0", 11)
            return 218
        module._obj.value = 77
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        assert module.value == 77
        if name not in (b"k", b"l"):
            return 500
        function._obj.value = name[0]
        return 0

    def cuFuncSetAttribute(self, function: Any, attribute: Any, value: Any) -> int:
        assert attribute.value == 8
        self.shared.append(value.value)
        return 0

    def cuLaunchKernel(self, function: Any, *rest: Any) -> int:
        *numbers, stream, arguments, extra = rest
        assert extra is None
        values = [ctypes.cast(a, ctypes.POINTER(ctypes.c_uint64))[0] for a in arguments]
        self.launches.append((chr(function.value), [n.value for n in numbers], values))
        assert stream.value == 2
        return 0

    def cuStreamBeginCapture_v2(self, stream: Any, mode: Any) -> int:
        self.begun += 1
        return 901

    def cuStreamEndCapture(self, stream: Any, graph: Any) -> int:
        return 0


@pytest.fixture
def library() -> MadeUp:
    return MadeUp()


def program(library: MadeUp, text: bytes = b".version 7.8") -> PtxProgram:
    driver = Driver.__new__(Driver)
    driver._lib = library
    fd = os.memfd_create("solution")
    os.write(fd, text)
    os.lseek(fd, 0, os.SEEK_SET)
    return PtxProgram(fd, driver)


def batch(*launches: KernelLaunch) -> Prepare:
    return Prepare(calls=2, arguments=ARGUMENTS, launches=launches)


def test_a_call_makes_all_launches_in_order_with_its_own_buffers(library: MadeUp) -> None:
    loaded = program(library)
    loaded.bind(batch(LAUNCH, replace(LAUNCH, kernel="l", shared=64, arguments=())), ARENA)
    assert library.launches == []
    loaded.call(1)
    assert library.launches == [
        ("k", [4, 1, 1, 32, 2, 1, 0], [(1 << 40) + 4096 + 512, 9]),
        ("l", [4, 1, 1, 32, 2, 1, 64], []),
    ]
    assert library.shared == []


def test_more_than_48_kib_of_shared_memory_sets_the_kernels_attribute(library: MadeUp) -> None:
    program(library).bind(batch(replace(LAUNCH, shared=49153)), ARENA)
    assert library.shared == [49153]


def test_ptx_that_does_not_build_is_a_compile_fault(library: MadeUp) -> None:
    with pytest.raises(ProgramFailed, match="line 3: no") as failed:
        program(library, b"broken")
    assert failed.value.fault is FaultCode.COMPILE


def test_a_missing_kernel_is_a_no_entry_fault(library: MadeUp) -> None:
    with pytest.raises(ProgramFailed, match="no kernel `other`") as failed:
        program(library).bind(batch(replace(LAUNCH, kernel="other")), ARENA)
    assert failed.value.fault is FaultCode.NO_ENTRY


def test_capture_returns_false_where_the_driver_refuses(library: MadeUp) -> None:
    loaded = program(library)
    loaded.bind(batch(LAUNCH), ARENA)
    assert loaded.capture() is False
    assert (library.begun, loaded.recorded()) == (1, None)


def test_a_failed_launch_raises_the_drivers_error(
    library: MadeUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = program(library)
    loaded.bind(batch(LAUNCH), ARENA)
    monkeypatch.setattr(library, "cuLaunchKernel", lambda *_: 701)
    with pytest.raises(CudaError, match="CUDA error 701"):
        loaded.call(0)
