"""Build a CUDA submission for execution on the CPU, with :mod:`harness.cudacpu`.

Two libraries from one translated source: one with AddressSanitizer that finds accesses out of
bounds, and, where times are to be taken, a fast one. Where there is an nvcc, it compiles the
submission beside that: its errors are the real ones, and so are its figures on registers and shared
memory.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cache as remember
from functools import partial
from pathlib import Path

import harness.cudacpu
from harness.cudacpu import compile_command
from harness.cudacpu.build import INCLUDE
from harness.languages.build.cache import BuildError, BuildOutcome, Cache
from harness.languages.build.compiler import (
    compile_failure,
    failed,
    killed_failure,
    lacks_entry,
    limit_failure,
    run_compiler,
)
from harness.languages.build.diagnostics import first_error, neutral
from harness.languages.build.nvcc import PRELUDE, SOURCE, CudaSource, compile_cuda
from harness.languages.build.prelude import VAR_TYPES, headers_of
from harness.languages.build.toolchain import HostCompiler
from harness.languages.build.translation import translate_limited
from harness.records.result import Verdict
from harness.sandbox.command import CommandResult
from harness.sandbox.pause_gate import side_by_side

TRANSLATED = "translated.cpp"
NO_SANITIZER = "note: the host compiler has no libasan: accesses out of bounds go unnoticed\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSource:
    """A CUDA source to build for the CPU, and the tools for it."""

    text: str
    """The submission."""
    prelude: str
    """The text that is included before its translation."""
    dtype: str
    """The data type that ``VAR`` stands for."""
    host: HostCompiler
    """The C++ compiler."""
    cuda: CudaSource | None
    """The same source for nvcc; None where there is none."""
    seconds: float
    """Limit on the wall time of one compiler."""
    timed: bool
    """Also build a library without AddressSanitizer, for speed."""

    @property
    def modes(self) -> tuple[bool, ...]:
        """The libraries to build: False for the fast one, True for the one with the sanitizer."""
        if not self.host.sanitizer:
            return (False,)
        return (False, True) if self.timed else (True,)

    def key(self) -> dict[str, str | bytes]:
        """All that the outcome depends on, for :func:`harness.languages.build.cache.key_of`.

        Raises:
            ValueError: the executor has no such data type.
        """
        place = Path("/")
        commands = [[*map(str, self._command(place, sanitize=mode))] for mode in self.modes]
        return {
            "text": self.text,
            "host prelude": self.prelude,
            "host compiler": f"{self.host.version} {self.host.sanitizer}",
            "host commands": repr(commands),
            "executor": executor_hash(),
            **(self.cuda.key(library=False) if self.cuda else {}),
        }

    def _command(self, folder: Path, *, sanitize: bool) -> list[str]:
        output = folder / _library_name(sanitize=sanitize)
        command = compile_command(
            source=folder / TRANSLATED,
            output=output,
            var=VAR_TYPES[self.dtype],
            headers=headers_of(VAR_TYPES[self.dtype]),
            sanitize=sanitize,
            compiler=str(self.host.path),
        )
        # An undefined solution() must be an error here, not when the runner loads the library.
        return [*command, "-include", str(folder / PRELUDE), "-Wl,-z,defs"]

    def run(self, folder: Path, *, sanitize: bool) -> CommandResult:
        """Compile the translated source that lies in ``folder``."""
        command = self._command(folder, sanitize=sanitize)
        return run_compiler(command, folder, self.seconds, [self.host.path], [INCLUDE])


def build_for_host(job: HostSource, folder: Path, cache: Cache) -> BuildOutcome:
    """Build ``job`` in the empty directory ``folder``: files ``library`` and ``checked``.

    nvcc's verdict goes first. What nvcc accepts and the executor does not is
    ``NOT_EXECUTABLE_HERE``; without an nvcc a complaint of the host compiler is a compile error.

    Raises:
        MachineError: nvcc is there but does not work.
    """
    cuda_folder, host_folder = folder / "cuda", folder / "host"
    cuda_folder.mkdir()
    host_folder.mkdir()
    on_host = partial(_build_host, job, host_folder)
    if job.cuda is None:
        return on_host()
    by_nvcc = partial(compile_cuda, job.cuda, cuda_folder, cache, library=False)
    host, compiled = side_by_side(on_host, by_nvcc)
    if compiled.failure is not None:
        return compiled
    return replace(
        host,
        log="\n".join(filter(None, [compiled.log, host.log])),
        kernels=compiled.kernels,
        seconds=max(compiled.seconds, host.seconds),
    )


@remember
def executor_hash() -> str:
    """A hash over the executor: both its translator and its headers decide the outcome."""
    root = Path(harness.cudacpu.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _library_name(*, sanitize: bool) -> str:
    return "checked.so" if sanitize else "library.so"


def _build_host(job: HostSource, folder: Path) -> BuildOutcome:
    """The half that g++ does."""
    (folder / PRELUDE).write_text(job.prelude, encoding="utf-8")
    done = translate_limited(job.text, name=SOURCE, folder=folder, output=TRANSLATED)
    if done.killed:
        return BuildOutcome(failure=killed_failure("the translator"), keep=False)
    if done.obstacle:
        return BuildOutcome(failure=_not_executable(job, done.obstacle), keep=not done.stopped)
    modes = job.modes
    runs = side_by_side(*(partial(job.run, folder, sanitize=sanitize) for sanitize in modes))
    seconds = max(run.seconds for run in runs)
    log = neutral(runs[0].output, folder)
    for run in runs:
        stopped = limit_failure("the host compiler", run, job.seconds)
        if stopped is not None:
            return BuildOutcome(failure=stopped, log=log, seconds=seconds, keep=False)
    rejected = next((run for run in runs if not run.ok), None)
    if rejected is not None:
        log = neutral(rejected.output, folder)
        return failed(_host_failure(job, rejected, log), log, seconds)
    return BuildOutcome(
        files={
            "checked" if sanitize else "library": folder / _library_name(sanitize=sanitize)
            for sanitize in modes
        },
        log=log if job.host.sanitizer else NO_SANITIZER + log,
        seconds=seconds,
    )


def _host_failure(job: HostSource, finished: CommandResult, log: str) -> BuildError:
    """The verdict on what g++ rejects: an error of the executor's where nvcc accepts it."""
    if job.cuda is not None and not lacks_entry(log) and (reason := first_error(log)):
        return _not_executable(job, reason)
    return compile_failure("the host compiler", finished, log)


def _not_executable(job: HostSource, reason: str) -> BuildError:
    compiled = f"compiled for {job.cuda.target.arch}" if job.cuda else "not compiled (no nvcc here)"
    return BuildError(
        verdict=Verdict.NOT_EXECUTABLE_HERE,
        message=f"{compiled}; not executable on a CPU: {reason}",
    )
