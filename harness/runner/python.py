"""A submission as a Python module, whatever it imports, on a GPU or on the CPU."""

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from harness.frameworks import FRAMEWORKS, launching_on
from harness.runner.driver import PER_THREAD_STREAM, CudaError, Driver
from harness.runner.entry.contracts import Caller, caller, offer_imports
from harness.runner.entry.outputs import Arguments
from harness.runner.memory import ImportedArena, ImportedHostArena
from harness.runner.program import LoadedProgram, ProgramFailed
from harness.wire.arguments import ScalarArgument, TensorArgument
from harness.wire.messages import MAX_TEXT, FaultCode, Load, Prepare

if TYPE_CHECKING:
    from torch import Tensor
    from torch.cuda import CUDAGraph

_NAME = "solution"
_COMPILE_ERRORS = frozenset(
    {
        *("CompilationError", "CompileTimeAssertionFailure", "PTXASError"),  # Triton's
        *(name for framework in FRAMEWORKS.values() for name in framework.compile_errors),
    }
)
"""Names of the exceptions by which compilers refuse a kernel: none of these is imported here."""


def load_framework(language: str) -> None:
    """Import the framework that ``language`` is the name of, if it is one's.

    Raises:
        Failed: it cannot be imported here.
    """
    framework = FRAMEWORKS.get(language)
    if framework is None:
        return
    try:
        framework.load()
    except ImportError as error:
        raise ProgramFailed(FaultCode.UNSUPPORTED, str(error)) from error


def write_source(fd: int, folder: Path) -> Path:
    """Write the source behind a descriptor to a file, where Triton reads that of its kernels."""
    path = folder / f"{_NAME}.py"
    with os.fdopen(fd, "rb") as source:
        path.write_bytes(source.read())
    return path


def import_source(path: Path) -> ModuleType:
    """Import a file as the module ``solution``; whatever it raises is raised."""
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise ProgramFailed(FaultCode.NO_ENTRY, "the file cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
    return module


class reported:  # noqa: N801 - reads as a statement: `with reported():`
    """Turn whatever the submission raises into :class:`ProgramFailed`, with its own lines only.

    A class, since a generator would cost each call more.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, ProgramFailed):
            return
        raise ProgramFailed(_fault(error), _text(error)) from error


def _fault(error: BaseException) -> FaultCode:
    name = type(error).__name__
    if isinstance(error, MemoryError) or name == "OutOfMemoryError":
        return FaultCode.MEMORY
    if name in ("NotEmulated", "Unsupported", "UnsupportedFeatureError"):
        return FaultCode.UNSUPPORTED
    if name == "OutOfBounds":
        return FaultCode.OUT_OF_BOUNDS
    if name in _COMPILE_ERRORS:
        return FaultCode.COMPILE
    if name == "AcceleratorError" or "CUDA error" in str(error):
        return FaultCode.CUDA
    return FaultCode.EXCEPTION


def _text(error: BaseException) -> str:
    """The error and the submitter's line, without our own frames."""
    lines = [
        f"{_NAME}.py:{frame.lineno}: {frame.line}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.endswith(f"/{_NAME}.py")
    ]
    chain: BaseException | None = error
    texts: list[str] = []
    while chain is not None and len(texts) < 3:
        texts.append(f"{type(chain).__name__}: {chain}"[: MAX_TEXT // 4])
        chain = chain.__cause__
    return "\n".join(texts + lines[-3:])[:MAX_TEXT]


class TorchProgram(LoadedProgram):
    """A Python submission that gets the judge's buffers as torch tensors."""

    def __init__(self, fd: int, folder: Path, load: Load, driver: Driver | None) -> None:
        import torch

        # By default cuBLAS may add partial sums in half precision, which the problems forbid.
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        # The default; a baseline that this process ran before may have allowed it.
        torch.backends.cuda.matmul.allow_tf32 = False
        self._torch = torch
        self._driver = driver
        self._interpreted = load.interpret
        if load.interpret:
            from harness.runner.triton import cpu as triton_cpu

            triton_cpu.enable(os.environ)
            self._watch = triton_cpu.watch
        offer_imports(load.entry)
        path = write_source(fd, folder)
        with reported():
            module = import_source(path)
        self._caller: Caller = caller(module, load.entry, load.parameters)
        self._bound: list[Arguments] = []
        self._graph: CUDAGraph | None = None
        self._executable = 0
        self._kernels: int | None = None
        self._launched = 0

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        """Make the tensors of every call: views of the arena, nothing is copied."""
        self._forget_graph()
        whole = self._whole(arena)
        self._bound = [
            tuple(self._argument(each, index, whole) for each in batch.arguments)
            for index in range(batch.calls)
        ]
        with reported():
            self._caller.bind(self._bound)

    def _whole(self, arena: ImportedArena) -> "Tensor":
        """The arena as one tensor of bytes."""
        if isinstance(arena, ImportedHostArena):
            return self._torch.frombuffer(arena.buffer, dtype=self._torch.uint8)
        return self._torch.as_tensor(_DeviceBytes(arena), device="cuda")

    def _argument(
        self, argument: TensorArgument | ScalarArgument, index: int, whole: "Tensor"
    ) -> "Tensor | int | float":
        if isinstance(argument, ScalarArgument):
            floating = argument.ctype in ("float", "double")
            return float(argument.value) if floating else int(argument.value)
        start = argument.base + index * argument.stride
        dtype = getattr(self._torch, argument.dtype)
        flat = whole[start : start + argument.bytes].view(dtype)
        return flat.as_strided(argument.shape, argument.strides)

    def warm_up(self, index: int) -> None:
        """Call the solution until it is known how its later calls can be made."""
        with reported():
            self._caller.warm_up(index)

    def call(self, index: int) -> None:
        """Call the solution."""
        with reported():
            if self._interpreted:
                self._watch(a for a in self._bound[index] if isinstance(a, self._torch.Tensor))
            self._caller.call(index)

    def capture(self) -> bool:
        """Record all calls into a CUDA graph; false where the solution forbids it."""
        if self._driver is None:
            return False
        placing = self._caller.placing
        captured = self._record(self._driver)
        if placing and not self._caller.placing:  # the submission holds an output of a call
            self._forget_graph()
            captured = self._record(self._driver)
        return captured

    def _record(self, driver: Driver) -> bool:
        graph = self._torch.cuda.CUDAGraph(keep_graph=True)
        try:
            with (
                self._torch.cuda.graph(graph, capture_error_mode="thread_local"),
                launching_on(self._torch.cuda.current_stream().cuda_stream),
            ):
                for index in range(len(self._bound)):
                    self.call(index)
            captured = driver.instantiate(graph.raw_cuda_graph())
        except (ProgramFailed, RuntimeError, CudaError):
            return False
        if captured is None:
            return False
        self._graph = graph  # it owns the memory that was allocated meanwhile
        self._executable, self._kernels = captured
        return True

    def _forget_graph(self) -> None:
        if self._executable and self._driver is not None:
            self._driver.destroy_graph(self._executable)
        self._graph, self._executable = None, 0

    def replay(self) -> None:
        """Launch the recorded graph: by the driver, as libraries do, so that it costs the same."""
        assert self._driver is not None, "nothing is captured on a CPU"
        self._driver.launch(self._executable, PER_THREAD_STREAM)
        self._launched += self._kernels or 0

    def launched(self) -> int | None:
        """Count the kernels of all replays so far; plain calls, and a CPU's, are not counted."""
        return self._launched if self._graph is not None and self._kernels is not None else None

    def copied(self) -> int | None:
        """Count the outputs that the last call copied; the calls of a batch are alike."""
        return self._caller.copied

    def synchronize(self) -> None:
        """Wait for the device; faults of earlier kernels surface here."""
        if self._driver is not None:
            self._driver.synchronize()


class _DeviceBytes:
    """Lets torch see a range of device memory without copying."""

    def __init__(self, arena: ImportedArena) -> None:
        self.__cuda_array_interface__ = {
            "shape": (arena.size,),
            "typestr": "|u1",
            "data": (arena.address, False),
            "version": 3,
        }
