"""Compile a CUDA submission with nvcc.

The submission is a file of a fixed name in a private directory, its prelude another: no part of a
command line is the user's. On timing: a typical file takes 1.6 s as a library, 0.6 s as a cubin
(the device half alone); ``--threads`` saves 0.2 s of that, ``-lineinfo`` and the optimisation level
cost nothing measurable.
"""

import signal
from dataclasses import dataclass
from pathlib import Path

from harness.errors import MachineError
from harness.languages.build import ptxas
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, key_of
from harness.languages.build.diagnostics import (
    LOG_BYTES,
    first_error,
    names_a_place,
    neutral,
    tells_of_a_kill,
)
from harness.languages.build.toolchain import HostCompiler, Nvcc, find_demangler
from harness.records.result import Verdict
from harness.sandbox.command import Finished, clean_environment, run_limited
from harness.sandbox.support import parts
from harness.solution.contract import EntryPoint
from harness.solution.model import Target

SOURCE = "solution.cu"
PRELUDE = "prelude.h"
LIBRARY = "solution.so"
CUBIN = "solution.cubin"

MEMORY_BYTES = 8 << 30
CANARY_S = 120.0

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
    """What to compile, and with which tools. ``seconds`` limits the wall time of one compiler."""

    source: bytes
    prelude: str
    target: Target
    nvcc: Nvcc
    host: HostCompiler
    seconds: float

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
        """All that the compiler's result depends on; see :func:`harness.languages.build.cache.key_of`."""
        return {
            "source": self.source,
            "prelude": self.prelude,
            "nvcc": "\0".join([self.nvcc.version, *self.command(library=library)]),
            "host compiler": self.host.version,
        }


def compile_cuda(job: CudaSource, folder: Path, cache: Cache, *, library: bool) -> BuildOutcome:
    """Compile ``job`` in the empty directory ``folder``.

    The outcome's files are ``library``, or none for a cubin: what counts then is that it compiles,
    and its figures.

    Raises:
        MachineError: nvcc cannot even compile an empty kernel for this target.
    """
    finished = _run(job, folder, library=library)
    log = neutral(finished.output, folder)
    stopped = limit_failure("nvcc", finished, job.seconds)
    if stopped is not None:
        return BuildOutcome(failure=stopped, log=log, seconds=finished.seconds, keep=False)
    kernels = ptxas.demangled(ptxas.parse(finished.output), find_demangler())
    log = ptxas.without_info(log)
    if not finished.ok:
        _require_working_compiler(job, cache)
        failure = _compile_failure(finished, log)
        return BuildOutcome(
            failure=failure,
            log=log,
            seconds=finished.seconds,
            keep=names_a_place(failure.message) or lacks_entry(log),
        )
    files = {"library": folder / LIBRARY} if library else {}
    return BuildOutcome(files=files, log=log, kernels=kernels, seconds=finished.seconds)


def limit_failure(tool: str, finished: Finished, seconds: float) -> BuildError | None:
    """The verdict on a compiler that was stopped, by us or by others; ``None`` if it was not."""
    if finished.timed_out:
        return BuildError(
            verdict=Verdict.TIME_LIMIT,
            message=f"compiling took longer than {seconds:g} s ({tool} was stopped)",
        )
    if finished.over_memory:
        return BuildError(
            verdict=Verdict.MEMORY_LIMIT,
            message=f"compiling took more than {MEMORY_BYTES >> 30} GiB ({tool} was stopped)",
        )
    if not finished.ok and (
        finished.returncode == -signal.SIGKILL or tells_of_a_kill(finished.output)
    ):
        return killed(tool)
    return None


def killed(tool: str) -> BuildError:
    """The verdict where somebody else has ended a tool: none on the submission."""
    return BuildError(
        verdict=Verdict.INTERNAL_ERROR,
        message=f"{tool} was killed, and not by a limit of the judge's: is the machine out of "
        "memory? Grade again",
    )


def lacks_entry(log: str) -> bool:
    """Whether linking failed for want of the entry point."""
    return any(f"undefined reference to `{entry}'" in log for entry in EntryPoint if entry.in_c)


def _run(job: CudaSource, folder: Path, *, library: bool) -> Finished:
    (folder / SOURCE).write_bytes(job.source)
    (folder / PRELUDE).write_text(job.prelude, encoding="utf-8")
    return run_limited(
        job.command(library=library),
        cwd=folder,
        seconds=job.seconds,
        memory_bytes=MEMORY_BYTES,
        output_bytes=4 * LOG_BYTES,
        environment=clean_environment(folder, [job.nvcc.path.parent, job.host.path.parent]),
        readable=[*parts(job.nvcc.path), *parts(job.host.path)],
    )


def _compile_failure(finished: Finished, log: str) -> BuildError:
    if lacks_entry(log):
        return BuildError(
            verdict=Verdict.INVALID_SUBMISSION,
            message="the file defines no solution() with the problem's parameters",
        )
    message = first_error(log)
    if message:
        return BuildError(verdict=Verdict.COMPILE_ERROR, message=message)
    return silent("nvcc", finished)


def silent(tool: str, finished: Finished) -> BuildError:
    """The verdict where a tool failed and named no error: not the submission's, but for a flood.

    nvcc is silent when a host compiler that it has started is killed.
    """
    message = f"{tool} failed with exit status {finished.returncode}, and named no error"
    verdict = Verdict.COMPILE_ERROR if finished.truncated else Verdict.INTERNAL_ERROR
    return BuildError(verdict=verdict, message=message)


def _require_working_compiler(job: CudaSource, cache: Cache) -> None:
    """Make sure that it was the submission's fault: an empty kernel must compile.

    Raises:
        MachineError: it does not.
    """
    empty = CudaSource(
        source=b"__global__ void harness_canary() {}\n",
        prelude=job.prelude,
        target=job.target,
        nvcc=job.nvcc,
        host=job.host,
        seconds=CANARY_S,
    )

    def build(folder: Path) -> BuildOutcome:
        finished = _run(empty, folder, library=False)
        if not finished.ok:
            complaint = finished.output.strip()[-1000:] or f"exit status {finished.returncode}"
            raise MachineError(
                f"nvcc {job.nvcc.version} ({job.nvcc.path}) cannot compile an empty kernel for "
                f"{job.target.code}:\n{complaint}"
            )
        return BuildOutcome(seconds=finished.seconds)

    cache.fetch(key_of({"canary": "", **empty.key(library=False)}), build)
