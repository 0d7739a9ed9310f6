"""A submission as a Python module, whatever it imports, on a GPU or on the CPU."""

import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.frameworks import FRAMEWORKS, launching_on
from harness.runner.driver import CudaError, Driver
from harness.runner.entry.contracts import caller, offer_imports
from harness.runner.entry.outputs import Arguments
from harness.runner.memory import ImportedArena, ImportedHostArena, card_bytes
from harness.runner.program import GraphProgram, ProgramFailed
from harness.runner.source import NAME, import_source, write_source
from harness.runner.triton.tuning import tune_briefly
from harness.wire.arguments import Argument, Construct, ListedWeight, ScalarArgument
from harness.wire.messages import MAX_TEXT, FaultCode, Load, Prepare

if TYPE_CHECKING:
    from torch import Tensor
    from torch.cuda import CUDAGraph

_TRITON_ERRORS = ("CompilationError", "CompileTimeAssertionFailure", "PTXASError")
_UNSUPPORTED = ("NotEmulated", "Unbuilt", "Unsupported", "UnsupportedFeatureError")
_FAULTS = {
    **{name: FaultCode.COMPILE for each in FRAMEWORKS.values() for name in each.compile_errors},
    **dict.fromkeys(_TRITON_ERRORS, FaultCode.COMPILE),
    **dict.fromkeys(_UNSUPPORTED, FaultCode.UNSUPPORTED),
    "ExtensionError": FaultCode.COMPILE,
    "ExtensionRefused": FaultCode.NO_ENTRY,
    "OutOfMemoryError": FaultCode.MEMORY,
    "OutOfBounds": FaultCode.OUT_OF_BOUNDS,
    "AcceleratorError": FaultCode.CUDA,
}
"""The fault of an exception by its name: none of these is imported here."""


def load_framework(language: str) -> None:
    """Import the framework that ``language`` is the name of, if it is one's.

    Raises:
        ProgramFailed: it cannot be imported here.
    """
    try:
        if language in FRAMEWORKS:
            FRAMEWORKS[language].load()
    except ImportError as error:
        raise ProgramFailed(FaultCode.UNSUPPORTED, str(error)) from error


class reported:  # noqa: N801 - reads as a statement: `with reported():`
    """Turn whatever the submission raises into :class:`ProgramFailed`, with its own lines only.

    A class, since a generator would cost each call more.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, ProgramFailed):
            return
        fault, lack = _fault(error), ""
        if fault is FaultCode.EXCEPTION and (lack := _lack(error)):
            fault = FaultCode.UNSUPPORTED
        raise ProgramFailed(fault, _text(error, lack)) from error


def _lack(error: BaseException) -> str:
    """What the emulator lacks, if one is at work here and that is the cause; else empty."""
    if "harness.runner.triton.interpreter" not in sys.modules:
        return ""
    from harness.runner.triton.lacking import lack

    return lack(error)


def _fault(error: BaseException) -> FaultCode:
    if isinstance(error, MemoryError):
        return FaultCode.MEMORY
    for cause in (error.__cause__, error.__context__):
        if type(cause).__name__ in ("ExtensionError", "ExtensionRefused"):
            return _FAULTS[type(cause).__name__]  # raised again in words of the submission's
    if fault := _FAULTS.get(type(error).__name__):
        return fault
    return FaultCode.CUDA if "CUDA error" in str(error) else FaultCode.EXCEPTION


def _text(error: BaseException, lack: str = "") -> str:
    """What the emulator lacks, the error and the submitter's line, without our own frames."""
    lines = [
        f"{NAME}.py:{frame.lineno}: {frame.line}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.endswith(f"/{NAME}.py")
    ]
    cause: BaseException | None = error
    texts = [lack[: MAX_TEXT // 4]] if lack else []
    while cause is not None and len(texts) < 3:
        texts.append(f"{type(cause).__name__}: {cause}"[: MAX_TEXT // 4])
        cause = cause.__cause__
    return "\n".join(texts + lines[-3:])[:MAX_TEXT]


class TorchProgram(GraphProgram):
    """A Python submission that gets the judge's buffers as torch tensors."""

    def __init__(self, fd: int, folder: Path, load: Load, driver: Driver | None) -> None:
        import torch

        super().__init__(driver)
        # By default cuBLAS may add partial sums in half precision, which the problems forbid.
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        # The default; a baseline that this process ran before may have allowed it.
        torch.backends.cuda.matmul.allow_tf32 = False
        self._torch = torch
        self._watch: Callable[[Iterable[Tensor]], None] | None = None
        if load.interpret:
            from harness.runner.triton import cpu as triton_cpu

            triton_cpu.enable()
            self._watch = triton_cpu.watch
        offer_imports(load.entry)
        path = write_source(fd, folder)
        with reported():
            module = import_source(path)
        if driver is not None:
            tune_briefly()
        self._caller = caller(module, load.entry, load.parameters)
        self._bound: list[Arguments] = []
        self._recorded: CUDAGraph | None = None
        """Owns the memory that was allocated while the graph was recorded."""

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        """Make the tensors of every call: views of the arena, nothing is copied."""
        self.begin(batch.calls)
        if isinstance(arena, ImportedHostArena):
            whole = self._torch.frombuffer(arena.buffer, dtype=self._torch.uint8)
        else:
            whole = self._torch.as_tensor(card_bytes(arena.address, arena.size), device="cuda")
        self._bound = [
            tuple(self._argument(each, index, whole) for each in batch.arguments)
            for index in range(batch.calls)
        ]
        with reported():
            self._caller.bind(self._bound, batch.construct)

    def _argument(self, argument: Argument, index: int, whole: "Tensor") -> "Tensor | int | float":
        if isinstance(argument, ScalarArgument):
            floating = argument.ctype in ("float", "double")
            return float(argument.value) if floating else int(argument.value)
        dtype = getattr(self._torch, argument.dtype)
        if argument.on_host:
            known = self._torch.frombuffer(bytearray.fromhex(argument.on_host), dtype=dtype)
            return known.reshape(argument.shape)
        start = argument.base + index * argument.stride
        flat = whole[start : start + argument.bytes].view(dtype)
        tensor = flat.as_strided(argument.shape, argument.strides)
        return tensor.view(getattr(self._torch, argument.seen_as)) if argument.seen_as else tensor

    def weights(self, construct: Construct) -> tuple[ListedWeight, ...]:
        """The weights of a module made for this alone."""
        with reported():
            return self._caller.weights(construct)

    def warm_up(self, index: int, before: Callable[[], None]) -> None:
        """Call the solution until it is known how its later calls can be made."""
        with reported():
            self._caller.warm_up(index, before)

    def call(self, index: int) -> None:
        """Call the solution."""
        with reported():
            if self._watch is not None:
                self._watch(a for a in self._bound[index] if isinstance(a, self._torch.Tensor))
            self._caller.call(index)

    def capture(self) -> bool:
        """Record all calls into a CUDA graph; false where the solution forbids it."""
        if self._driver is None:
            return False
        placing = self._caller.placing
        captured = self._record()
        if placing and not self._caller.placing:  # the submission holds an output of a call
            self.begin(self._calls)
            captured = self._record()
        return captured

    def begin(self, calls: int) -> None:
        """Forget the graph of an earlier batch, and its memory."""
        super().begin(calls)
        self._recorded = None

    def _record(self) -> bool:
        graph = self._torch.cuda.CUDAGraph(keep_graph=True)
        try:
            with (
                self._torch.cuda.graph(graph, capture_error_mode="thread_local"),
                launching_on(self._torch.cuda.current_stream().cuda_stream),
            ):
                for index in range(self._calls):
                    self.call(index)
            captured = self.cuda.instantiate(graph.raw_cuda_graph())
        except (ProgramFailed, RuntimeError, CudaError):
            return False
        if captured is not None:
            self._recorded = graph
            self._graph, self._kernels = captured
        return captured is not None

    def tidy(self) -> None:
        """Give back what torch keeps of the card's memory."""
        if self._driver is not None:
            self._torch.cuda.memory.empty_cache()

    def copied(self) -> int | None:
        """Count the outputs that the last call copied; the calls of a batch are alike."""
        return self._caller.copied

    def returned(self) -> str | None:
        """What a call returned although it was to fill its outputs."""
        return self._caller.ignored
