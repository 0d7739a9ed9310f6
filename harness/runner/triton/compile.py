"""Compiles a Triton submission for a named GPU on a machine that has none.

The submission's own entry point is called with arguments of the right types and shapes, under a
driver that compiles every launch (Triton's code generator and its bundled ptxas) and launches
nothing. So exactly the kernels, specialisations and configurations that it would use are built, and
what a card would refuse (too much shared memory) is refused with Triton's own error.

It runs submitted code: only in a process of its own, confined like the runner. That process must
not have the interpreter enabled, nor Triton imported, which then reads its settings. Put a time
limit on it: single kernels have taken minutes.
"""

import os
import re
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from harness.runner.entry.contracts import caller, offer_imports
from harness.runner.entry.returning import Caller
from harness.runner.program import ProgramFailed
from harness.runner.source import import_source
from harness.runner.strides import span
from harness.runner.triton.fake_cuda import NotEmulated, install_fake_cuda
from harness.wire.arguments import CompiledKernel, ScalarArgument, TensorShape
from harness.wire.messages import Compile, Compiled, CompileStatus, FaultCode

_WARP = 32


class _CompileError(Exception):
    """A kernel cannot be built for the target."""

    def __init__(self, message: str, line: int | None) -> None:
        self.line = line
        super().__init__(message)


def compile_submission(
    message: Compile, *, source: Path, cache: Path, max_configurations: int, launchers: bool
) -> Compiled:
    """Compile all launches of the submission in the file ``source`` into the empty ``cache``.

    Of an autotuner's configurations ``max_configurations`` are built for each key, beginning with
    the first that builds. With ``launchers`` the code by which Triton launches kernels is built,
    too; it is the same for all cards.
    """
    start, end = time.monotonic(), _worked() + message.seconds
    os.environ["TRITON_CACHE_DIR"] = str(cache)
    os.environ.pop("TRITON_INTERPRET", None)
    install_fake_cuda(message.arch)
    compiler = _Compiler(message.arch, max_configurations, launchers=launchers, end=end)
    status, text, line = _compile_calls(compiler, message, source)
    return Compiled(
        status=status,
        message=text,
        line=line,
        kernels=tuple(compiler.kernels),
        configurations=compiler.configurations,
        seconds=time.monotonic() - start,
    )


def _compile_calls(
    compiler: "_Compiler", message: Compile, path: Path
) -> tuple[CompileStatus, str, int | None]:
    """Make all calls; how they ended, with the error's text and its line of the file."""
    try:
        offer_imports(message.entry)
        found = caller(import_source(path), message.entry, message.parameters)
        for arguments in message.calls:
            if _worked() > compiler.end:
                break
            found.bind([tuple(map(_value, arguments))])
            compiler.compile_launches(found, path)
    except ProgramFailed as failure:
        no_entry = failure.fault is FaultCode.NO_ENTRY
        return "no_entry_point" if no_entry else "failed", failure.message, None
    except _CompileError as error:
        return "compile_error", str(error), error.line
    except NotEmulated as error:
        return "unsupported", str(error), _line_of_traceback(error, path)
    except SyntaxError as error:
        return "compile_error", f"SyntaxError: {error.msg}", error.lineno
    except BaseException as error:  # a submission may raise anything, SystemExit too
        return "failed", f"{type(error).__name__}: {error}", _line_of_traceback(error, path)
    return "ok", "", None


def _worked() -> float:
    """Seconds of the processor that this process and those it waited for have had."""
    return sum(os.times()[:4])  # not a clock's: the judge stops this process now and then


class _Compiler:
    """Builds what a submission launches; ``kernels`` has what ptxas reported of each.

    Of further configurations none is begun after ``end``, seconds of the processor.
    """

    def __init__(self, arch: int, max_configurations: int, *, launchers: bool, end: float) -> None:
        from harness.runner.triton.stub_driver import activate

        self.kernels: list[CompiledKernel] = []
        self.configurations = 0
        self.end = end
        self._max_configurations = max_configurations
        self._built: dict[bytes, CompiledKernel] = {}  # by the cubin
        self._tuned = 0
        activate(arch, bench=self._bench, load=self._load, launchers=launchers)
        self._count_configurations()
        self._listen_to_ptxas()

    def compile_launches(self, entry: Caller, path: Path) -> None:
        """Make the call that is bound; every launch in it is compiled and none is executed."""
        import triton.compiler.errors
        import triton.runtime.errors

        refused = (triton.compiler.errors.CompilationError, triton.runtime.errors.TritonError)
        try:
            entry.call(0)
        except refused as error:
            raise _refusal(error, path) from error

    def _count_configurations(self) -> None:
        """Count what autotuners have to choose from; each begins with nothing built."""
        from triton.runtime.autotuner import Autotuner

        plain = Autotuner.prune_configs

        def prune_configs(autotuner: object, kwargs: object) -> list[object]:
            choice: list[object] = plain(autotuner, kwargs)
            self.configurations += len(choice)
            self._tuned = 0
            return choice

        Autotuner.prune_configs = prune_configs

    def _bench(self, launch: Callable[[], object]) -> float:
        """Build a configuration while more are wanted; the first that builds is the best."""
        if self._tuned >= self._max_configurations or (self._tuned and _worked() > self.end):
            return float("inf")
        launch()
        self._tuned += 1
        return float(self._tuned)

    def _listen_to_ptxas(self) -> None:
        """Catch the log of ptxas where Triton, if asked to, prints it."""
        import triton
        from triton.backends.nvidia import compiler as backend

        log: list[str] = []
        backend.print = lambda *parts: log.extend(map(str, parts))
        triton.knobs.nvidia.dump_ptxas_log = True
        plain = backend.CUDABackend.make_cubin

        def make_cubin(
            this: object, source: object, metadata: dict[str, str | int], *rest: object
        ) -> bytes:
            log.clear()
            cubin: bytes = plain(this, source, metadata, *rest)
            name, shared = str(metadata["name"]), int(metadata["shared"])
            threads = _WARP * int(metadata["num_warps"])
            self._built[cubin] = parse_ptxas("\n".join(log), name, shared, threads=threads)
            return cubin

        backend.CUDABackend.make_cubin = make_cubin

    def _load(self, name: str, cubin: bytes) -> tuple[int, int]:
        """Note a kernel that a launch would load; Triton calls this once for each."""
        kernel = self._built.get(cubin, CompiledKernel(name=name))
        self.kernels.append(kernel)
        return kernel.registers, kernel.spill_store_bytes // 4


def parse_ptxas(
    log: str, name: str, shared_bytes: int, *, threads: int | None = None
) -> CompiledKernel:
    """Read ``ptxas -v``; Triton's shared memory is dynamic, so ptxas does not know of it."""

    def number(pattern: str) -> int:
        found = re.search(pattern, log)
        return int(found[1]) if found else 0

    return CompiledKernel(
        name=name,
        registers=number(r"Used (\d+) registers"),
        shared_bytes=shared_bytes,
        spill_store_bytes=number(r"(\d+) bytes spill stores"),
        spill_load_bytes=number(r"(\d+) bytes spill loads"),
        threads=threads,
    )


def _value(argument: TensorShape | ScalarArgument) -> Tensor | int | float:
    if isinstance(argument, ScalarArgument):
        return argument.value
    shape, strides, dtype = argument.shape, argument.strides, getattr(torch, argument.dtype)
    return torch.zeros(span(shape, strides), dtype=dtype).as_strided(shape, strides)


def _line_of_traceback(error: BaseException, path: Path) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return lines[-1] if lines else None


def _refusal(error: BaseException, path: Path) -> _CompileError:
    """Triton's message, the Python error behind it, and the line of the file at ``path``."""
    at = error.__cause__
    while at is not None:  # one inside a helper is wrapped by one at the place of its call
        error, at = at if getattr(at, "src", None) else error, at.__cause__
    text, cause = str(error).strip(), str(error.__cause__ or "").strip()
    if cause and cause not in text:
        text = f"{text}\n{cause}"
    node = getattr(error, "node", None)
    if node is not None:
        source = path.read_text(errors="replace")
        place = source.find(getattr(error, "src", "").strip())
        if place >= 0:  # the node's line counts from the start of the function
            return _CompileError(text, source.count("\n", 0, place) + int(node.lineno))
    return _CompileError(text, _line_of_traceback(error, path))
