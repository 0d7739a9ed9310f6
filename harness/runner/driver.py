"""Calls the CUDA driver API by ctypes, as far as judge and runner need it.

The runner of a ``.cu`` submission must start in well under a second and sees nothing but the
standard library, so this binding needs nothing else. Handles and pointers are plain integers.

Source of the shared-memory part: CUDA driver API, "Virtual Memory Management".
"""

import ctypes
from collections.abc import Sequence
from ctypes import Structure, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, NamedTuple

PER_THREAD_STREAM = 2
"""``CU_STREAM_PER_THREAD``: the default stream of code built with --default-stream per-thread."""

OUT_OF_MEMORY = 2
"""The :attr:`CudaError.code` of an allocation that does not fit."""

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

END_OF_CALLS = "harness_end_of_calls"
"""The kernel that a profiled run ends with, for whoever reads the profiler's table."""

_END_OF_CALLS = (
    b".version 7.0\n.target sm_52\n.address_size 64\n"
    b".visible .entry " + END_OF_CALLS.encode() + b"() { ret; }\n"
)

_RESULT = object()
"""Among the arguments of :meth:`Driver._get`: a pointer to where the result goes."""


class CudaError(Exception):
    """A driver call that failed; ``code`` is its ``CUresult``."""

    def __init__(self, call: str, code: int, text: str) -> None:
        self.code = code
        super().__init__(f"{call}: {text} (CUDA error {code})")


class Captured(NamedTuple):
    """A recorded graph, ready to be launched."""

    executable: int
    kernels: int | None
    """Kernels that one launch of it runs; None where the driver does not report them."""


class _Location(Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class _Properties(Structure):
    _fields_ = [
        ("type", c_int),
        ("handle_types", c_int),
        ("location", _Location),
        ("win32", c_void_p),
        ("flags", c_uint64),
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
        self._handle = self._get("cuDeviceGet", _RESULT, device)
        context = self._get("cuDevicePrimaryCtxRetain", _RESULT, self._handle)
        self._call("cuCtxSetCurrent", context)

    def _call(self, name: str, *args: object) -> None:
        # Integers go as 64 bits: a narrower parameter has a register, or a slot of the stack, of
        # that size to itself, and takes the lower part.
        words = [c_uint64(arg) if type(arg) is int else arg for arg in args]
        code = getattr(self._lib, name)(*words)
        if code:
            text = c_char_p()
            self._lib.cuGetErrorString(code, byref(text))
            described = text.value or b"unknown error"
            raise CudaError(name, code, described.decode("utf-8", "replace"))

    def _get(self, name: str, *args: object) -> int:
        """The number or handle that a function writes to where ``_RESULT`` points."""
        result = c_uint64()  # a narrower number goes to the lower part: all hosts are little-endian
        self._call(name, *(byref(result) if arg is _RESULT else arg for arg in args))
        return result.value

    def bus(self) -> str:
        """The device's PCI address, as the system writes it: ``0000:1b:00.0``."""
        text = ctypes.create_string_buffer(_BUS_BYTES)
        self._call("cuDeviceGetPCIBusId", text, _BUS_BYTES, self._handle)
        return text.value.decode("ascii").lower()

    def synchronize(self) -> None:
        """Wait for all work of this context, on every stream."""
        self._call("cuCtxSynchronize")

    def start_profiler(self) -> None:
        """Have a tool that profiles this process look from here on; without one nothing happens."""
        self._call("cuProfilerStart")

    def stop_profiler(self) -> None:
        """Have it look away again, after a kernel named :data:`END_OF_CALLS`."""
        function = self.function(self.load_module(_END_OF_CALLS), END_OF_CALLS)
        one = (1, 1, 1)
        self.launch_kernel(function, one, one, 0, PER_THREAD_STREAM, (c_void_p * 0)())
        self.synchronize()
        self._call("cuProfilerStop")

    def reset_persisting_l2(self) -> None:
        """Turn lines of the L2 that were marked persisting back to normal."""
        self._call("cuCtxResetPersistingL2Cache")

    def _properties(self) -> _Properties:
        return _Properties(_PINNED, _POSIX_FD, _Location(_DEVICE, self.device), None, 0)

    def granularity(self) -> int:
        """Bytes that the size of an allocation must be a multiple of."""
        properties = byref(self._properties())
        return self._get("cuMemGetAllocationGranularity", _RESULT, properties, 0)

    def create(self, size: int) -> int:
        """Allocate ``size`` bytes (a multiple of :meth:`granularity`) that can be exported."""
        return self._get("cuMemCreate", _RESULT, size, byref(self._properties()), 0)

    def export_fd(self, handle: int) -> int:
        """A file descriptor by which another process can import the allocation."""
        return self._get("cuMemExportToShareableHandle", _RESULT, handle, _POSIX_FD, 0)

    def import_fd(self, fd: int) -> int:
        """The allocation behind a descriptor that another process exported."""
        return self._get("cuMemImportFromShareableHandle", _RESULT, fd, _POSIX_FD)

    def map(self, handle: int, size: int) -> int:
        """Map an allocation, readable and writable; returns the device address."""
        address = self._get("cuMemAddressReserve", _RESULT, size, 0, 0, 0)
        self._call("cuMemMap", address, size, 0, handle, 0)
        access = _Access(_Location(_DEVICE, self.device), _READ_WRITE)
        self._call("cuMemSetAccess", address, size, byref(access), 1)
        return address

    def unmap(self, address: int, size: int, handle: int) -> None:
        """Undo :meth:`map` and give the handle back; memory goes when the last holder lets go."""
        self._call("cuMemUnmap", address, size)
        self._call("cuMemAddressFree", address, size)
        self.release(handle)

    def clear(self, address: int, size: int) -> None:
        """Set ``size`` bytes of device memory to 0, after all work of every stream; waits."""
        self.synchronize()
        self._call("cuMemsetD8_v2", address, 0, size)
        self.synchronize()

    def release(self, handle: int) -> None:
        """Give an allocation back that is not mapped."""
        self._call("cuMemRelease", handle)

    def load_module(self, ptx: bytes) -> int:
        """Build PTX for this device; the module stays loaded until the process ends.

        Raises:
            CudaError: it does not build, with the log of the driver's compiler.
        """
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.addressof(log), _LOG_BYTES)
        try:
            return self._get("cuModuleLoadDataEx", _RESULT, ptx, len(options), options, values)
        except CudaError as error:
            text = log.value.decode("utf-8", "replace").strip()
            raise CudaError("cuModuleLoadDataEx", error.code, text or str(error)) from error

    def function(self, module: int, name: str) -> int:
        """A kernel of a module, by its name."""
        return self._get("cuModuleGetFunction", _RESULT, module, name.encode())

    def allow_shared(self, function: int, size: int) -> None:
        """Let launches of a kernel ask for ``size`` bytes of shared memory."""
        self._call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, size)

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
        self._call("cuLaunchKernel", function, *grid, *block, shared, stream, arguments, None)

    def begin_capture(self, stream: int) -> None:
        """Record the launches on ``stream`` instead of running them."""
        # Thread-local: a call that cannot be recorded (an allocation) fails, and does not run.
        self._call("cuStreamBeginCapture_v2", stream, _CAPTURE_MODE_THREAD_LOCAL)

    def end_capture(self, stream: int) -> Captured | None:
        """Stop recording; None if nothing was recorded."""
        graph = self._get("cuStreamEndCapture", stream, _RESULT)
        try:
            return self.instantiate(graph)
        finally:
            self._lib.cuGraphDestroy(c_void_p(graph))

    def instantiate(self, graph: int) -> Captured | None:
        """Make a recorded graph ready to be launched; None if there is nothing in it.

        The graph itself stays its owner's. Memory that a launch of it left allocated is freed by
        the next.
        """
        if self._get("cuGraphGetNodes", graph, None, _RESULT) == 0:
            return None
        kernels = self.count_kernels(graph)
        flags = _AUTO_FREE_ON_LAUNCH
        executable = self._get("cuGraphInstantiateWithFlags", _RESULT, graph, flags)
        return Captured(executable, kernels)

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
        count = self._get("cuGraphGetNodes", graph, None, _RESULT)
        nodes = (c_void_p * count)()
        if count:
            self._call("cuGraphGetNodes", graph, nodes, byref(c_size_t(count)))
        kernels = 0
        for node in nodes:
            kind = self._get("cuGraphNodeGetType", node, _RESULT)
            if kind == _KERNEL_NODE:
                kernels += 1
            elif kind == _CHILD_GRAPH_NODE:
                child = self._get("cuGraphChildGraphNodeGetGraph", node, _RESULT)
                kernels += self._kernels_in(child, depth - 1)
        return kernels

    def abandon_capture(self, stream: int) -> None:
        """End a capture that failed, whatever state it is in."""
        graph = c_void_p()
        self._lib.cuStreamEndCapture(c_void_p(stream), byref(graph))
        if graph.value:
            self._lib.cuGraphDestroy(graph)

    def launch(self, executable: int, stream: int) -> None:
        """Run a captured graph on ``stream``."""
        self._call("cuGraphLaunch", executable, stream)

    def upload(self, executable: int, stream: int) -> None:
        """Send a captured graph to the device, so that its first launch takes no longer."""
        self._call("cuGraphUpload", executable, stream)

    def destroy_graph(self, executable: int) -> None:
        """Free a captured graph."""
        self._call("cuGraphExecDestroy", executable)
