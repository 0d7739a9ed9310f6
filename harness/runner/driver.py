"""Calls the CUDA driver API by ctypes, as far as judge and runner need it.

The runner of a ``.cu`` submission must start in well under a second and sees nothing but the
standard library, so this binding needs nothing else. Handles and pointers are plain integers.

Source of the shared-memory part: CUDA driver API, "Virtual Memory Management".
"""

import ctypes
from collections.abc import Sequence
from ctypes import (
    Structure,
    byref,
    c_char_p,
    c_int,
    c_size_t,
    c_ubyte,
    c_uint,
    c_uint64,
    c_ulonglong,
    c_ushort,
    c_void_p,
)
from typing import Any, NamedTuple

PER_THREAD_STREAM = 2
"""``CU_STREAM_PER_THREAD``: the default stream of code built with --default-stream per-thread."""

_CAPTURE_MODE_THREAD_LOCAL = 1
_AUTO_FREE_ON_LAUNCH = 1
_POSIX_FD = 1
_PINNED = 1
_DEVICE = 1
_READ_WRITE = 3
_KERNEL_NODE = 0
_CHILD_GRAPH_NODE = 4
_DEEPEST_GRAPH = 8
_JIT_ERROR_LOG = 5
_JIT_ERROR_LOG_BYTES = 6
_MAX_DYNAMIC_SHARED = 8
_LOG_BYTES = 4096
_BUS_BYTES = 32


class CudaError(Exception):
    """A driver call that failed; ``code`` is its ``CUresult``."""

    def __init__(self, call: str, code: int, text: str) -> None:
        self.code = code
        super().__init__(f"{call}: {text} (CUDA error {code})")


class Captured(NamedTuple):
    """A recorded graph, ready to be launched, and how many kernels one launch of it runs.

    ``kernels`` is None where the driver does not report them.
    """

    executable: int
    kernels: int | None


class _Location(Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class _Flags(Structure):
    _fields_ = [
        ("compression", c_ubyte),
        ("rdma", c_ubyte),
        ("usage", c_ushort),
        ("reserved", c_ubyte * 4),
    ]


class _Properties(Structure):
    _fields_ = [
        ("type", c_int),
        ("handle_types", c_int),
        ("location", _Location),
        ("win32", c_void_p),
        ("flags", _Flags),
    ]


class _Access(Structure):
    _fields_ = [("location", _Location), ("flags", c_int)]


class Driver:
    """libcuda, initialised, with the primary context of one device current.

    The primary context is the one that the CUDA runtime and torch use, so pointers mapped here are
    valid in a submission. Raises OSError where there is no driver, :class:`CudaError` otherwise.
    """

    def __init__(self, device: int = 0) -> None:
        self._lib: Any = ctypes.CDLL("libcuda.so.1")
        self.device = device
        self._call("cuInit", 0)
        handle = c_int()
        self._call("cuDeviceGet", byref(handle), device)
        self._handle = handle
        context = c_void_p()
        self._call("cuDevicePrimaryCtxRetain", byref(context), handle)
        self._context = context
        self.make_current()

    def _call(self, name: str, *args: object) -> None:
        code = getattr(self._lib, name)(*args)
        if code:
            raise CudaError(name, code, self.describe(code))

    def describe(self, code: int) -> str:
        """The driver's own text for an error code."""
        text = c_char_p()
        self._lib.cuGetErrorString(code, byref(text))
        return text.value.decode("utf-8", "replace") if text.value else "unknown error"

    def bus(self) -> str:
        """The device's PCI address, as the system writes it: ``0000:1b:00.0``."""
        text = ctypes.create_string_buffer(_BUS_BYTES)
        self._call("cuDeviceGetPCIBusId", text, _BUS_BYTES, self._handle)
        return text.value.decode("ascii").lower()

    def make_current(self) -> None:
        """Make the primary context current in this thread."""
        self._call("cuCtxSetCurrent", self._context)

    def synchronize(self) -> None:
        """Wait for all work of this context, on every stream."""
        self._call("cuCtxSynchronize")

    def reset_persisting_l2(self) -> None:
        """Turn lines of the L2 that were marked persisting back to normal."""
        self._call("cuCtxResetPersistingL2Cache")

    # -- shared memory -------------------------------------------------------------------------

    def _properties(self) -> _Properties:
        location = _Location(_DEVICE, self.device)
        return _Properties(_PINNED, _POSIX_FD, location, None, _Flags())

    def granularity(self) -> int:
        """Bytes that the size of an allocation must be a multiple of."""
        size = c_size_t()
        self._call(
            "cuMemGetAllocationGranularity", byref(size), byref(self._properties()), c_int(0)
        )
        return size.value

    def create(self, size: int) -> int:
        """Allocate ``size`` bytes (a multiple of :meth:`granularity`) that can be exported."""
        handle = c_ulonglong()
        self._call(
            "cuMemCreate", byref(handle), c_size_t(size), byref(self._properties()), c_ulonglong(0)
        )
        return handle.value

    def export_fd(self, handle: int) -> int:
        """A file descriptor by which another process can import the allocation."""
        fd = c_int()
        self._call(
            "cuMemExportToShareableHandle", byref(fd), c_ulonglong(handle), _POSIX_FD, c_uint64(0)
        )
        return fd.value

    def import_fd(self, fd: int) -> int:
        """The allocation behind a descriptor that another process exported."""
        handle = c_ulonglong()
        self._call("cuMemImportFromShareableHandle", byref(handle), c_void_p(fd), _POSIX_FD)
        return handle.value

    def map(self, handle: int, size: int) -> int:
        """Map an allocation, readable and writable; returns the device address."""
        address = c_ulonglong()
        self._call(
            "cuMemAddressReserve",
            byref(address),
            c_size_t(size),
            c_size_t(0),
            c_ulonglong(0),
            c_ulonglong(0),
        )
        self._call(
            "cuMemMap", address, c_size_t(size), c_size_t(0), c_ulonglong(handle), c_ulonglong(0)
        )
        access = _Access(_Location(_DEVICE, self.device), _READ_WRITE)
        self._call("cuMemSetAccess", address, c_size_t(size), byref(access), c_size_t(1))
        return address.value

    def unmap(self, address: int, size: int, handle: int) -> None:
        """Undo :meth:`map` and give the handle back; memory goes when the last holder lets go."""
        self._call("cuMemUnmap", c_ulonglong(address), c_size_t(size))
        self._call("cuMemAddressFree", c_ulonglong(address), c_size_t(size))
        self._call("cuMemRelease", c_ulonglong(handle))

    # -- kernels ---------------------------------------------------------------------------------

    def load_module(self, ptx: bytes) -> int:
        """Build PTX for this device; the module stays loaded until the process ends.

        Raises:
            CudaError: it does not build, with the log of the driver's compiler.
        """
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.addressof(log), _LOG_BYTES)
        module = c_void_p()
        try:
            self._call(
                "cuModuleLoadDataEx", byref(module), c_char_p(ptx), c_uint(2), options, values
            )
        except CudaError as error:
            text = log.value.decode("utf-8", "replace").strip()
            raise CudaError("cuModuleLoadDataEx", error.code, text or str(error)) from error
        return int(module.value or 0)

    def function(self, module: int, name: str) -> int:
        """A kernel of a module, by its name."""
        function = c_void_p()
        self._call("cuModuleGetFunction", byref(function), c_void_p(module), name.encode())
        return int(function.value or 0)

    def allow_shared(self, function: int, size: int) -> None:
        """Let launches of a kernel ask for ``size`` bytes of shared memory."""
        self._call("cuFuncSetAttribute", c_void_p(function), _MAX_DYNAMIC_SHARED, c_int(size))

    def launch_kernel(
        self,
        function: int,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        stream: int,
        arguments: "ctypes.Array[c_void_p]",
    ) -> None:
        """Enqueue a kernel; ``arguments`` is an array of where each argument lies."""
        self._call(
            "cuLaunchKernel",
            c_void_p(function),
            *map(c_uint, (*grid, *block, shared)),
            c_void_p(stream),
            arguments,
            None,
        )

    # -- graphs ----------------------------------------------------------------------------------

    def begin_capture(self, stream: int) -> None:
        """Record the launches on ``stream`` instead of running them.

        Thread-local mode: a call that cannot be recorded (an allocation) fails instead of
        running once.
        """
        self._call("cuStreamBeginCapture_v2", c_void_p(stream), _CAPTURE_MODE_THREAD_LOCAL)

    def end_capture(self, stream: int) -> Captured | None:
        """Stop recording; None if nothing was recorded."""
        graph = c_void_p()
        self._call("cuStreamEndCapture", c_void_p(stream), byref(graph))
        try:
            return self.instantiate(int(graph.value or 0))
        finally:
            self._lib.cuGraphDestroy(graph)

    def instantiate(self, graph: int) -> Captured | None:
        """Make a recorded graph ready to be launched; None if there is nothing in it.

        The graph itself stays its owner's. Memory that a launch of it left allocated is freed by
        the next.
        """
        nodes = c_size_t()
        self._call("cuGraphGetNodes", c_void_p(graph), None, byref(nodes))
        if nodes.value == 0:
            return None
        kernels = self.count_kernels(graph)
        executable = c_void_p()
        self._call(
            "cuGraphInstantiateWithFlags",
            byref(executable),
            c_void_p(graph),
            c_ulonglong(_AUTO_FREE_ON_LAUNCH),
        )
        return Captured(int(executable.value or 0), kernels)

    def count_kernels(self, graph: int) -> int | None:
        """Kernels in a graph that was not destroyed yet, those of child graphs included.

        None where the driver does not report them; the graph can be launched all the same.
        Source: CUDA driver API, "Graph Management" (a node's type, a child graph's graph).
        """
        try:
            return self._kernels_in(graph, _DEEPEST_GRAPH)
        except CudaError:
            return None

    def _kernels_in(self, graph: int, depth: int) -> int:
        if depth == 0:
            return 0
        count = c_size_t()
        self._call("cuGraphGetNodes", c_void_p(graph), None, byref(count))
        nodes = (c_void_p * count.value)()
        if count.value:
            self._call("cuGraphGetNodes", c_void_p(graph), nodes, byref(count))
        kernels = 0
        for node in nodes:
            kind = c_int()
            self._call("cuGraphNodeGetType", c_void_p(node), byref(kind))
            if kind.value == _KERNEL_NODE:
                kernels += 1
            elif kind.value == _CHILD_GRAPH_NODE:
                child = c_void_p()
                self._call("cuGraphChildGraphNodeGetGraph", c_void_p(node), byref(child))
                kernels += self._kernels_in(int(child.value or 0), depth - 1)
        return kernels

    def abandon_capture(self, stream: int) -> None:
        """End a capture that failed, whatever state it is in."""
        graph = c_void_p()
        self._lib.cuStreamEndCapture(c_void_p(stream), byref(graph))
        if graph.value:
            self._lib.cuGraphDestroy(graph)

    def launch(self, executable: int, stream: int) -> None:
        """Run a captured graph on ``stream``."""
        self._call("cuGraphLaunch", c_void_p(executable), c_void_p(stream))

    def destroy_graph(self, executable: int) -> None:
        """Free a captured graph."""
        self._call("cuGraphExecDestroy", c_void_p(executable))
