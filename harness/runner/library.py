"""A submission as a shared library with a C entry point: CUDA C++, on a GPU or on the CPU."""

import contextlib
import ctypes
import itertools
import os
from typing import Any

from harness.runner.driver import CudaError, Driver
from harness.runner.memory import ImportedArena
from harness.runner.program import GraphProgram, LoadedProgram, ProgramFailed
from harness.runner.strides import Rows, rows_of, span
from harness.wire.arguments import Argument, TensorArgument
from harness.wire.messages import FaultCode, Prepare

CValue = Any
"""A number or an address as ctypes holds it."""

SCALARS: dict[str, CValue] = {
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "char": ctypes.c_int8,
    "signed char": ctypes.c_int8,
    "unsigned char": ctypes.c_uint8,
    "short": ctypes.c_short,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "unsigned int": ctypes.c_uint,
    "long long": ctypes.c_longlong,
    "unsigned long long": ctypes.c_ulonglong,
    "int8_t": ctypes.c_int8,
    "int16_t": ctypes.c_int16,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
}
"""C types that a size or a scalar parameter may have."""

_MESSAGE_BYTES = 4096
_FAULTS = {2: FaultCode.MEMORY, 10001: FaultCode.BARRIER, 10002: FaultCode.UNSUPPORTED}
"""Errors of CUDA (the first) and of the CPU executor; others are :attr:`FaultCode.CUDA`."""


def load_library(fd: int, driver: Driver | None, entry: str) -> LoadedProgram:
    """Load the library behind a descriptor, for the GPU of ``driver`` or for the CPU.

    Raises:
        ProgramFailed: it does not load (a static constructor threw, a symbol is missing), or has no
            function ``entry``.
    """
    path = f"/proc/self/fd/{reopenable(fd)}"
    try:
        library = ctypes.CDLL(path, mode=os.RTLD_NOW)
    except OSError as error:
        text = f"the compiled file does not load: {str(error).replace(f'{path}: ', '')}"
        raise ProgramFailed(FaultCode.NO_ENTRY, text) from error
    return _CpuLibrary(library, entry) if driver is None else _CudaLibrary(library, entry, driver)


def reopenable(fd: int) -> int:
    """The same file by a descriptor that can be opened again.

    Where rules for files confine this process, what the judge has opened for it cannot.
    """
    with contextlib.suppress(PermissionError):
        os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY))
        return fd
    copy = os.memfd_create("solution.so")
    os.sendfile(copy, fd, 0, os.fstat(fd).st_size)
    return copy


class _Library:
    """Base of both kinds: binds arguments and calls ``entry``."""

    def __init__(self, library: ctypes.CDLL, entry: str, last_error: str) -> None:
        self._library = library
        try:
            self._entry = library[entry]
        except AttributeError:
            text = f'no function `extern "C" void {entry}(...)`'
            raise ProgramFailed(FaultCode.NO_ENTRY, text) from None
        self._entry.restype = None
        self._last_error = library[last_error]
        self._last_error.restype = ctypes.c_int
        self._bound: list[tuple[CValue, ...]] = []

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        self._bound = [
            tuple(c_argument(each, index, arena) for each in batch.arguments)
            for index in range(batch.calls)
        ]

    def call(self, index: int) -> None:
        self._entry(*self._bound[index])

    def _take_error(self) -> tuple[int, str]:
        """Clear the last error: its number, 0 for none, and its text."""
        text = ctypes.create_string_buffer(_MESSAGE_BYTES)
        code = int(self._last_error(text, ctypes.c_size_t(_MESSAGE_BYTES)))
        return code, text.value.decode("utf-8", "replace")


def c_argument(argument: Argument, index: int, arena: ImportedArena) -> CValue:
    """The argument of call ``index`` as C has it: a pointer into the arena, or a number.

    Or bytes in the host's memory, which C gets a pointer to.
    """
    if isinstance(argument, TensorArgument):
        if argument.on_host:
            known = bytes.fromhex(argument.on_host)
            return (ctypes.c_char * len(known)).from_buffer_copy(known)
        return ctypes.c_void_p(arena.address + argument.base + index * argument.stride)
    kind = SCALARS[argument.ctype]
    floating = kind in (ctypes.c_float, ctypes.c_double)
    return kind(argument.value if floating else int(argument.value))


class _CudaLibrary(_Library, GraphProgram):
    """A library built by nvcc, its default stream per thread, on the GPU."""

    def __init__(self, library: ctypes.CDLL, entry: str, driver: Driver) -> None:
        _Library.__init__(self, library, entry, "harness_last_error")
        GraphProgram.__init__(self, driver)

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        self.begin(batch.calls)
        super().bind(batch, arena)

    def capture(self) -> bool:
        captured = super().capture()
        self._take_error()  # what forbids it is no error of a launch
        return captured

    def synchronize(self) -> None:
        """Wait for the device; a launch that failed or a kernel that faulted is reported here."""
        code, text = self._take_error()
        if not code:
            try:
                super().synchronize()
            except CudaError as error:
                code, text = error.code, str(error)
        if code:
            text = text if "CUDA error" in text else f"{text} (CUDA error {code})"
            raise ProgramFailed(_FAULTS.get(code, FaultCode.CUDA), text)


class _CpuLibrary(_Library, LoadedProgram):
    """A library built by the CPU executor (:mod:`harness.cudacpu`)."""

    def __init__(self, library: ctypes.CDLL, entry: str) -> None:
        super().__init__(library, entry, "cudacpu_take_error")
        self._launches = library.cudacpu_launches
        self._launches.restype = ctypes.c_ulonglong

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        super().bind(batch, arena)
        self._library.cudacpu_configure(batch.order, ctypes.c_ulonglong(batch.seed), 0)
        # All of the arena is fenced, and then the buffers themselves are opened.
        self._library.cudacpu_guard(ctypes.c_void_p(arena.address), ctypes.c_size_t(arena.size))
        for tensor in batch.arguments:
            if isinstance(tensor, TensorArgument):
                itemsize = tensor.bytes // span(tensor.shape, tensor.strides)
                rows = rows_of(tensor.shape, tensor.strides, itemsize)
                for index in range(batch.calls):
                    self._unguard(arena.address + tensor.base + index * tensor.stride, rows)

    def _unguard(self, start: int, rows: Rows) -> None:
        """Open the rows of one buffer; what lies between them stays fenced.

        AddressSanitizer keeps one mark for each 8 bytes, and opening never closes: where a row
        starts inside of such a granule, the bytes before it there are open, too.
        """
        *outer, (length, step) = rows.axes or ((1, 0),)
        sizes = [ctypes.c_size_t(each) for each in (length, step, rows.bytes)]
        for offsets in itertools.product(*([i * s for i in range(n)] for n, s in outer)):
            self._library.cudacpu_unguard_rows(ctypes.c_void_p(start + sum(offsets)), *sizes)

    def launched(self) -> int:
        """Count the kernels that the executor has run, or tried to, since the calls were bound."""
        return int(self._launches())

    def synchronize(self) -> None:
        """Kernels have run when their launch returns; report the first error of any."""
        code, text = self._take_error()
        if code:
            raise ProgramFailed(_FAULTS.get(code, FaultCode.CUDA), text)
