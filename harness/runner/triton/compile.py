"""Compiles a Triton submission for a named GPU on a machine that has none.

The submission's own entry point is called with arguments of the right types and shapes, under a
driver that compiles every launch (Triton's code generator and its bundled ptxas) and launches
nothing. So exactly the kernels, specialisations and configurations that it would use are built, and
what a card would refuse (too much shared memory) is refused with Triton's own error.

It runs submitted code: only in a process of its own, confined like the runner. That process must
not have the interpreter enabled. Put a time limit on it: single kernels have taken minutes.
"""

import hashlib
import importlib.util
import math
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

from harness.runner.entry.contracts import Caller, caller, offer_imports
from harness.runner.entry.outputs import Declared
from harness.runner.program import Failed
from harness.wire import FaultCode

_NAME = "solution"
_WARP = 32


class CompileError(Exception):
    """A kernel cannot be built for the target."""

    def __init__(self, message: str, line: int | None) -> None:
        self.line = line
        super().__init__(message)


class Tensor(TypedDict):
    """A tensor argument: torch's name of its data type, its shape, its strides in elements."""

    kind: Literal["tensor"]
    dtype: str
    shape: Sequence[int]
    strides: Sequence[int]


class Scalar(TypedDict):
    """A number argument, an int or a float as the submission will get it."""

    kind: Literal["scalar"]
    value: int | float


class Request(TypedDict, total=False):
    """What :func:`main` is asked to do.

    ``source`` is the path of the submission, ``calls`` the arguments of each call to make, ``arch``
    90 for sm_90, ``cache`` an empty private directory, ``configurations`` how many of an
    autotuner's configurations to build for each key (default 1: the first that builds). ``entry``
    is what is called (default ``solution``), ``parameters`` are as :mod:`harness.runner.entry.contracts`
    wants them. With ``launchers`` the code by which Triton launches kernels is built, too, which
    is the same for all cards. After ``seconds`` of the processor nothing more is begun.
    """

    source: str
    calls: Sequence[Sequence[Tensor | Scalar]]
    arch: int
    cache: str
    configurations: int
    entry: str
    parameters: Declared
    launchers: bool
    seconds: float


class Resources(NamedTuple):
    """What ptxas said about one kernel; the fields of ``harness.records.build.KernelResources``."""

    name: str
    registers: int
    shared_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    threads: int | None = None


def main(request: Request) -> dict[str, Any]:
    """Compile all launches of one submission.

    Returns ``{"status", "message", "line", "kernels", "configurations", "seconds"}``, JSON-able:

    * status ``ok``, ``compile_error`` (a kernel cannot be built, or the card could not hold it),
      ``no_entry_point``, ``unsupported`` (asks for what cannot be pretended) or ``failed`` (the
      Python around the kernels raised: not a verdict, since outputs hold nothing here);
    * line: of the submitted file, or None;
    * kernels: list of the fields of :class:`Resources`, one entry for each kernel built;
    * configurations: how many the autotuner had to choose from, in all.
    """
    start, begun = time.monotonic(), _worked()
    os.environ["TRITON_CACHE_DIR"] = request["cache"]
    os.environ.pop("TRITON_INTERPRET", None)
    # Not at the top: `import torch` is slow, and Triton reads its settings when imported.
    from harness.runner.triton.fake_cuda import NotEmulated, install_fake_cuda

    arch = request.get("arch", 90)
    install_fake_cuda(arch)
    end = begun + request.get("seconds", math.inf)
    compiler = Compiler(
        arch,
        request.get("configurations", 1),
        launchers=request.get("launchers", False),
        end=end,
    )
    path = Path(request["source"])
    status, message, line = "ok", "", None
    try:
        entry = request.get("entry", "solution")
        offer_imports(entry)
        found = caller(_load(path), entry, request.get("parameters", ()))
        for arguments in request["calls"]:
            if _worked() > end:
                break
            found.bind([tuple(_arguments(arguments))])
            compiler.compile_launches(found, path)
    except Failed as failure:
        no_entry = failure.fault is FaultCode.NO_ENTRY
        status, message = "no_entry_point" if no_entry else "failed", failure.message
    except CompileError as error:
        status, message, line = "compile_error", str(error), error.line
    except NotEmulated as error:
        status, message, line = "unsupported", str(error), _line_of_traceback(error, path)
    except SyntaxError as error:
        status, message, line = "compile_error", f"SyntaxError: {error.msg}", error.lineno
    except BaseException as error:  # a submission may raise anything, SystemExit too
        status, message = "failed", f"{type(error).__name__}: {error}"
        line = _line_of_traceback(error, path)
    return {
        "status": status,
        "message": message,
        "line": line,
        "kernels": [kernel._asdict() for kernel in compiler.kernels],
        "configurations": compiler.configurations,
        "seconds": time.monotonic() - start,
    }


def _worked() -> float:
    """Seconds that this process and those it waited for had of the processor.

    The judge stops it now and then, so a clock would say too much.
    """
    return sum(os.times()[:4])


class Compiler:
    """Builds what a submission launches, and keeps what ptxas said (``kernels``)."""

    def __init__(
        self, arch: int, configurations: int, *, launchers: bool = False, end: float = math.inf
    ) -> None:
        from triton.backends.nvidia import compiler as backend

        from harness.runner.triton.stub_driver import StubDriver, activate, launcher_builder

        self.kernels: list[Resources] = []
        self.configurations = 0
        self._wanted = configurations
        self._end = end
        self._built: dict[str, Resources] = {}
        self._tuned = 0
        launcher = launcher_builder() if launchers else None
        activate(StubDriver(arch, bench=self._bench, load=self._load, launcher=launcher))
        self._count_configurations()
        self._listen_to_ptxas(backend)

    def compile_launches(self, entry: Caller, path: Path) -> list[Resources]:
        """Make the call that is bound; every launch in it is compiled and none is executed.

        Raises:
            CompileError: with Triton's message and the line of the file at ``path``.
        """
        import triton.compiler.errors
        import triton.runtime.errors

        refused = (triton.compiler.errors.CompilationError, triton.runtime.errors.TritonError)
        try:
            entry.call(0)
        except refused as error:
            inner = _innermost(error)
            raise CompileError(_text(inner), _line_of_kernel(inner, path)) from error
        return self.kernels

    def _count_configurations(self) -> None:
        """Know which autotuner is running, and how much it has to choose from."""
        from triton.runtime.autotuner import Autotuner

        plain = Autotuner.prune_configs

        def prune_configs(autotuner: Any, kwargs: Any) -> Any:
            choice = plain(autotuner, kwargs)
            self.configurations += len(choice)
            self._tuned = 0
            return choice

        Autotuner.prune_configs = prune_configs

    def _bench(self, launch: Callable[[], Any]) -> float:
        """Build a configuration while more are wanted; the first that builds is the best."""
        if self._tuned >= self._wanted or (self._tuned and _worked() > self._end):
            return float("inf")
        launch()
        self._tuned += 1
        return float(self._tuned)

    def _listen_to_ptxas(self, backend: Any) -> None:
        """Catch what ptxas says where Triton, if asked to, prints it."""
        import triton

        said: list[str] = []
        backend.print = lambda *parts: said.extend(map(str, parts))
        triton.knobs.nvidia.dump_ptxas_log = True
        plain = backend.CUDABackend.make_cubin

        def make_cubin(this: Any, source: Any, metadata: Any, *rest: Any) -> Any:
            said.clear()
            cubin = plain(this, source, metadata, *rest)
            name, shared = str(metadata["name"]), int(metadata["shared"])
            resources = parse_ptxas("\n".join(said), name, shared)
            threads = _WARP * int(metadata["num_warps"])
            self._built[_hash(cubin)] = resources._replace(threads=threads)
            return cubin

        backend.CUDABackend.make_cubin = make_cubin

    def _load(self, name: str, cubin: bytes) -> tuple[int, int]:
        """Note a kernel that a launch would load; Triton calls this once for each."""
        kernel = self._built.get(_hash(cubin), Resources(name, 0, 0, 0, 0))
        self.kernels.append(kernel)
        return kernel.registers, kernel.spill_store_bytes // 4


def parse_ptxas(log: str, name: str, shared_bytes: int) -> Resources:
    """Read ``ptxas -v``; Triton's shared memory is dynamic, so ptxas does not know of it."""

    def number(pattern: str) -> int:
        found = re.search(pattern, log)
        return int(found[1]) if found else 0

    return Resources(
        name,
        number(r"Used (\d+) registers"),
        shared_bytes,
        number(r"(\d+) bytes spill stores"),
        number(r"(\d+) bytes spill loads"),
    )


def _hash(cubin: bytes) -> str:
    return hashlib.sha256(cubin).hexdigest()


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise CompileError("the file cannot be imported", None)
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
    return module


def _arguments(arguments: Sequence[Tensor | Scalar]) -> list[Any]:
    import torch

    def tensor(argument: Tensor) -> Any:
        shape, strides = tuple(argument["shape"]), tuple(argument["strides"])
        span = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        elements = torch.zeros(span, dtype=getattr(torch, argument["dtype"]))
        return elements.as_strided(shape, strides)

    return [a["value"] if a["kind"] == "scalar" else tensor(a) for a in arguments]


def _line_of_traceback(error: BaseException, path: Path) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return lines[-1] if lines else None


def _innermost(error: BaseException) -> BaseException:
    """Find the last error of the chain that knows its source.

    One inside a helper is wrapped by one at the place of its call.
    """
    found, at = error, error.__cause__
    while at is not None:
        if getattr(at, "src", None):
            found = at
        at = at.__cause__
    return found


def _text(error: BaseException) -> str:
    """Join Triton's message and the Python error behind it, where that says more."""
    told = str(error).strip()
    cause = str(error.__cause__ or "").strip()
    return told if not cause or cause in told else f"{told}\n{cause}"


def _line_of_kernel(error: Any, path: Path) -> int | None:
    """Find the line in the file: Triton counts from the start of the function."""
    node = getattr(error, "node", None)
    if node is not None:
        text = path.read_text(errors="replace")
        place = text.find(error.src.strip())
        if place >= 0:
            return text.count("\n", 0, place) + int(node.lineno)
    return _line_of_traceback(error, path)
