"""Compile a CUDA submission with nvcc.

The submission is a file of a fixed name in a private directory, its prelude another: no part of a
command line is the user's. A typical file takes 1.6 s as a library, 0.6 s as a cubin (the device
half alone); ``--threads`` saves 0.2 s of that, ``-lineinfo`` and the optimisation level cost
nothing measurable.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import MachineError
from harness.languages.build import ptxas
from harness.languages.build.cache import BuildOutcome, Cache, key_of
from harness.languages.build.compiler import compile_failure, failed, limit_failure, run_compiler
from harness.languages.build.diagnostics import neutral
from harness.languages.build.toolchain import HostCompiler, Nvcc, find_demangler
from harness.sandbox.command import CommandResult
from harness.solution.model import Target

SOURCE = "solution.cu"
PRELUDE = "prelude.h"
LIBRARY = "solution.so"
CUBIN = "solution.cubin"

CANARY_S = 120.0
"""Seconds that an empty kernel may take to compile, on a busy machine."""

COMMON = (
    "-O3",
    "-std=c++17",
    "-lineinfo",
    "--default-stream=per-thread",
    "-Xptxas=-v",
    "--threads=4",
    "-include",
    PRELUDE,
)
AS_LIBRARY = ("-shared", "-Xcompiler=-fPIC", "-Xlinker=-z,defs", "-o", LIBRARY, SOURCE)
AS_CUBIN = ("-cubin", "-o", CUBIN, SOURCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaSource:
    """A CUDA source to compile, and the tools for it."""

    source: bytes
    """The submission."""
    prelude: str
    """The text that is included before it."""
    target: Target
    """The architecture to compile for."""
    nvcc: Nvcc
    """The CUDA compiler."""
    host: HostCompiler
    """The C++ compiler that it uses."""
    seconds: float
    """Limit on the wall time of one compiler."""

    def command(self, *, library: bool) -> list[str]:
        """The nvcc call for a shared library, or for the device half alone."""
        number = self.target.code.removeprefix("sm_")
        return [
            str(self.nvcc.path),
            f"-gencode=arch=compute_{number},code=sm_{number}",
            f"-ccbin={self.host.path}",
            *COMMON,
            *self.nvcc.arguments,
            *(AS_LIBRARY if library else AS_CUBIN),
        ]

    def key(self, *, library: bool) -> dict[str, str | bytes]:
        """All that the outcome depends on, for :func:`harness.languages.build.cache.key_of`."""
        return {
            "source": self.source,
            "prelude": self.prelude,
            "nvcc": "\0".join([self.nvcc.version, *self.command(library=library)]),
            "host compiler": self.host.version,
        }

    def run(self, folder: Path, *, library: bool) -> CommandResult:
        """Compile in the empty directory ``folder``."""
        (folder / SOURCE).write_bytes(self.source)
        (folder / PRELUDE).write_text(self.prelude, encoding="utf-8")
        tools = [self.nvcc.path, self.host.path]
        return run_compiler(self.command(library=library), folder, self.seconds, tools)


def compile_cuda(job: CudaSource, folder: Path, cache: Cache, *, library: bool) -> BuildOutcome:
    """Compile ``job`` in the empty directory ``folder``.

    The outcome's files are ``library``, or none for a cubin: what counts then is that it compiles,
    and its figures.

    Raises:
        MachineError: nvcc cannot even compile an empty kernel for this target.
    """
    finished = job.run(folder, library=library)
    log = neutral(finished.output, folder)
    stopped = limit_failure("nvcc", finished, job.seconds)
    if stopped is not None:
        return BuildOutcome(failure=stopped, log=log, seconds=finished.seconds, keep=False)
    log = ptxas.without_info(log)
    if not finished.ok:
        _require_working_compiler(job, cache)
        return failed(compile_failure("nvcc", finished, log), log, finished.seconds)
    kernels = ptxas.demangled(ptxas.parse(finished.output), find_demangler())
    files = {"library": folder / LIBRARY} if library else {}
    return BuildOutcome(files=files, log=log, kernels=kernels, seconds=finished.seconds)


def _require_working_compiler(job: CudaSource, cache: Cache) -> None:
    """Make sure that it was the submission's fault: an empty kernel must compile.

    Raises:
        MachineError: it does not.
    """
    empty = replace(job, source=b"__global__ void harness_canary() {}\n", seconds=CANARY_S)

    def build(folder: Path) -> BuildOutcome:
        finished = empty.run(folder, library=False)
        if not finished.ok:
            complaint = finished.output.strip()[-1000:] or f"exit status {finished.returncode}"
            raise MachineError(
                f"nvcc {job.nvcc.version} ({job.nvcc.path}) cannot compile an empty kernel for "
                f"{job.target.code}:\n{complaint}"
            )
        return BuildOutcome(seconds=finished.seconds)

    cache.fetch(key_of({"canary": "", **empty.key(library=False)}), build)
