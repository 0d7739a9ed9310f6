"""Build a CUDA submission: with nvcc for a card, with :mod:`harness.cudacpu` for the CPU.

nvcc takes 1.6 s for a typical file as a library, 0.6 s as a cubin (only the device half);
``--threads`` saves 0.2 s of that, ``-lineinfo`` and the optimisation level cost nothing measurable.

For the CPU a translated source becomes two libraries: one with AddressSanitizer that finds accesses
out of bounds, and, where times are to be taken, a fast one. Where there is an nvcc, it compiles the
submission beside that: its errors are the real ones, and so are its figures on registers and shared
memory.
"""

import hashlib
from functools import cache as remember
from functools import partial
from pathlib import Path
from typing import NamedTuple

import harness.cudacpu
from harness.cudacpu import compile_command
from harness.cudacpu.build import INCLUDE
from harness.errors import MachineError
from harness.languages.build import ptxas
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, key_of
from harness.languages.build.compiler import DISK_BYTES, CompilerCall, disk_full, killed_failure
from harness.languages.build.diagnostics import CRASHED, LACKING, first_error
from harness.languages.build.libraries import FoundLibrary
from harness.languages.build.library_table import EXECUTABLE, forbidden_owner
from harness.languages.build.linking import header_options, link_options, readable
from harness.languages.build.machine_code import CUBIN
from harness.languages.build.prelude import VAR_TYPES, headers_of, host_prelude, prelude
from harness.languages.build.toolchain import HostCompiler, Nvcc, find_demangler
from harness.languages.build.translation import translate_limited
from harness.problem.gradable import Gradable
from harness.problem.libraries import allowed_in_words
from harness.records.result import Verdict
from harness.sandbox.pause_gate import side_by_side
from harness.solution.contract import EntryPoint
from harness.solution.model import Target
from harness.text.system_errors import has_less

SOURCE = "solution.cu"
PRELUDE = "prelude.h"
LIBRARY = "solution.so"
HEADERS = "headers.d"
"""The headers that nvcc has read, as it lists them for make."""
TRANSLATED = "translated.cpp"

SLOW = {"cutlass": 3}
"""How many times a problem's ``build_s`` a file with this library may take: the templates of a
product with CUTLASS's collective builders take some 80 s of a processor, on a busy machine more."""

CANARY_S = 120.0
"""Seconds that an empty kernel may take to compile, on a busy machine."""

COMMON = (
    "-O3",
    "-std=c++17",
    "--expt-relaxed-constexpr",
    "--extended-lambda",
    # The host compiler's own, which is all that a file needs where it runs without a GPU.
    "-ftemplate-depth=900",
    "-lineinfo",
    "--default-stream=per-thread",
    "-Xptxas=-v",
    "--threads=4",
    "-include",
    PRELUDE,
)
AS_LIBRARY = ("-shared", "-Xcompiler=-fPIC", "-Xlinker=-z,defs", "-o", LIBRARY, SOURCE)
CUBIN_FILE = "solution.cubin"
AS_CUBIN = ("-cubin", "-o", CUBIN_FILE, SOURCE)
NO_SANITIZER = "note: the host compiler has no libasan: accesses out of bounds go unnoticed\n"


class CudaBuild(NamedTuple):
    """A CUDA source to build, and the tools for it."""

    text: str
    """The submission."""
    problem: Gradable
    """The problem, whose parameters and time limit count."""
    dtype: str
    """The data type that ``VAR`` stands for."""
    target: Target
    """The device to build for."""
    entry: EntryPoint
    """The function that is called."""
    host: HostCompiler
    """The C++ compiler, for nvcc too."""
    nvcc: Nvcc | None
    """The CUDA compiler; None where the CPU's build does without."""
    cache: Cache
    """The build cache."""
    uses: tuple[str, ...] = ()
    """The libraries that the submission says it uses."""
    libraries: tuple[FoundLibrary, ...] = ()
    """The same as found, for nvcc."""

    def for_card(self) -> BuildOutcome:
        """The shared library for a card, as the file ``library``.

        Raises:
            MachineError: nvcc cannot even compile an empty kernel for this target.
        """
        call = self._nvcc_call(self.text, library=True)
        key = key_of({"kind": "cuda", "call": repr(call), "allowed": repr(self.problem.libraries)})
        return self.cache.fetch(key, partial(self._by_nvcc, call))

    def for_cpu(self) -> BuildOutcome:
        """The libraries for the CPU, as the files ``library`` and ``checked``.

        nvcc's verdict goes first. What it accepts and the executor does not is
        ``NOT_EXECUTABLE_HERE``; without it a complaint of the host compiler is a compile error.

        Raises:
            MachineError: nvcc is there but does not work.
        """
        parts = {
            "kind": "cpu",
            "text": self.text,
            "prelude": host_prelude(self.problem, self.entry),
            "executor": executor_hash(),
            "host calls": repr(self._host_calls()),
            "nvcc": repr(self._nvcc_call(self.text, library=False)) if self.nvcc else "",
            "uses": repr(self.uses),
            "allowed": repr(self.problem.libraries),
        }
        return self.cache.fetch(key_of(parts), self._both_halves)

    def _nvcc_call(self, source: str, *, library: bool) -> CompilerCall:
        """The call for a shared library, or for the device half only."""
        assert self.nvcc is not None
        number = self.target.code.removeprefix("sm_")
        front = prelude(self.problem, self.dtype, self.entry)
        used = self.libraries
        listed = () if self.problem.libraries is None else ("-MD", "-MF", HEADERS)
        return CompilerCall(
            tool="nvcc",
            version=", ".join([self.nvcc.version, self.host.version, *(e.identity for e in used)]),
            tools=(self.nvcc.path, self.host.path),
            command=(
                str(self.nvcc.path),
                f"-gencode=arch=compute_{number},code=sm_{number}",
                f"-ccbin={self.host.path}",
                *COMMON,
                *self.nvcc.arguments,
                *listed,
                *header_options(used, self.nvcc),
                *(AS_LIBRARY if library else AS_CUBIN),
                *(link_options(used) if library else ()),
            ),
            readable=readable(used),
            inputs={SOURCE: source.encode(), PRELUDE: front.encode()},
            source=SOURCE,
            of_limit=f" times {self._patience} for {', '.join(self.uses)}"
            if self._patience > 1
            else "",
        )

    @property
    def _patience(self) -> int:
        return max((SLOW.get(name, 1) for name in self.uses), default=1)

    def _by_nvcc(self, call: CompilerCall, folder: Path) -> BuildOutcome:
        """The outcome of ``call`` in ``folder``, with the library or the cubin that it made."""
        limit_s = self.problem.limits.build_s * self._patience
        outcome = call.build(folder, limit_s, on_rejection=self._require_working_nvcc)
        if outcome.failure is None and HEADERS in call.command:
            outcome = outcome.model_copy(update={"failure": self._forbidden_header(folder)})
        names = {LIBRARY: "library", CUBIN_FILE: CUBIN} if outcome.failure is None else {}
        made = {names[each]: folder / each for each in call.command if each in names}
        found = {
            "files": {role: path for role, path in made.items() if path.is_file()},
            "kernels": ptxas.demangled(outcome.kernels, find_demangler()),
        }
        return outcome.model_copy(update=found)

    def _forbidden_header(self, folder: Path) -> BuildError | None:
        """The verdict on a file that includes a header of a library which is not allowed."""
        allowed = self.problem.libraries or ()
        read = (folder / HEADERS).read_text(encoding="utf-8", errors="replace").split()
        forbidden = {name: path for path in read if (name := forbidden_owner(path, allowed))}
        if not forbidden:
            return None
        name, path = next(iter(forbidden.items()))
        message = (
            f"{SOURCE}: includes {Path(path).name} of {name}, and the problem allows these "
            f"libraries: {allowed_in_words(allowed)}"
        )
        return BuildError(verdict=Verdict.INVALID_SUBMISSION, message=message)

    def _require_working_nvcc(self) -> None:
        """Make sure that it was the submission's fault: an empty kernel must compile.

        Raises:
            MachineError: it does not.
        """
        assert self.nvcc is not None
        nvcc = f"nvcc {self.nvcc.version} ({self.nvcc.path})"
        empty = self._nvcc_call("__global__ void harness_canary() {}\n", library=False)

        def build(folder: Path) -> BuildOutcome:
            finished = empty.run(folder, CANARY_S)
            if not finished.ok:
                complaint = finished.output.strip()[-1000:] or f"exit status {finished.returncode}"
                if has_less(folder, DISK_BYTES):
                    complaint += f"\n{disk_full(empty.tool).message}"
                raise MachineError(
                    f"{nvcc} cannot compile an empty kernel for {self.target.code}:\n{complaint}"
                )
            return BuildOutcome(seconds=finished.seconds)

        self.cache.fetch(key_of({"canary": repr(empty)}), build)

    def _both_halves(self, folder: Path) -> BuildOutcome:
        """The libraries for the CPU, with the verdict and figures of nvcc, if there is one."""
        folders = folder / "host", folder / "cuda"
        for each in folders:
            each.mkdir()
        on_host = partial(self._on_host, folders[0])
        if self.nvcc is None:
            return on_host()
        call = self._nvcc_call(self.text, library=False)
        host, cuda = side_by_side(on_host, partial(self._by_nvcc, call, folders[1]))
        if cuda.failure is not None:
            return cuda
        both = {
            "log": "\n".join(filter(None, [cuda.log, host.log])),
            "kernels": cuda.kernels,
            "files": {} if host.failure else {**cuda.files, **host.files},
            "seconds": max(cuda.seconds, host.seconds),
        }
        return host.model_copy(update=both)

    def _on_host(self, folder: Path) -> BuildOutcome:
        """The half that g++ does."""
        if device_code := [name for name in self.uses if name not in EXECUTABLE]:
            failure = self._not_executable(f"it uses {', '.join(device_code)}")
            return BuildOutcome(failure=failure)
        (folder / PRELUDE).write_text(host_prelude(self.problem, self.entry), encoding="utf-8")
        done = translate_limited(self.text, name=SOURCE, folder=folder, output=TRANSLATED)
        if done.killed:
            return BuildOutcome(failure=killed_failure("the translator"), reusable=False)
        if done.obstacle:
            failure = self._not_executable(done.obstacle)
            return BuildOutcome(failure=failure, reusable=not done.stopped)
        calls = self._host_calls()
        limit_s = self.problem.limits.build_s
        runs = side_by_side(*(partial(call.build, folder, limit_s) for call in calls.values()))
        seconds = max(run.seconds for run in runs)
        failed = [run for run in runs if run.failure is not None]
        if not failed:
            log = runs[0].log if self.host.sanitizer else NO_SANITIZER + runs[0].log
            files = {role: folder / f"{role}.so" for role in calls}
            return BuildOutcome(files=files, log=log, seconds=seconds)
        worst = min(failed, key=lambda run: run.reusable)  # a limit goes before a complaint
        found: dict[str, object] = {"seconds": seconds}
        assert worst.failure is not None
        rejected = worst.failure.verdict is Verdict.COMPILE_ERROR and not CRASHED.search(worst.log)
        # What nvcc accepts, or lies in CUDA's libraries, is the executor's error.
        reason = first_error(worst.log)
        if rejected and reason and (self.nvcc is not None or LACKING.search(reason)):
            found["failure"] = self._not_executable(reason)
        return worst.model_copy(update=found)

    def _host_calls(self) -> dict[str, CompilerCall]:
        """The host compiler's calls by role: ``library``, and ``checked`` with AddressSanitizer."""
        sanitizer = self.host.sanitizer
        roles = {"library": self.target.timed or not sanitizer, "checked": sanitizer}
        return {role: self._host_call(role) for role, wanted in roles.items() if wanted}

    def _host_call(self, role: str) -> CompilerCall:
        var = VAR_TYPES[self.dtype]
        command = compile_command(
            source=Path(TRANSLATED),
            output=Path(f"{role}.so"),
            var=var,
            headers=headers_of(var),
            sanitize=role == "checked",
            compiler=str(self.host.path),
        )
        # An undefined solution() must be an error here, not when the runner loads the library.
        command += ["-include", PRELUDE, "-Wl,-z,defs"]
        return CompilerCall(
            tool="the host compiler",
            version=self.host.version,
            tools=(self.host.path,),
            command=tuple(command),
            inputs={},  # both calls run in one folder
            readable=(INCLUDE,),
            source=SOURCE,
        )

    def _not_executable(self, reason: str) -> BuildError:
        compiled = (
            f"compiled for {self.target.arch}" if self.nvcc else "not compiled (no nvcc here)"
        )
        message = f"{compiled}; not executable on a CPU: {reason}"
        return BuildError(verdict=Verdict.NOT_EXECUTABLE_HERE, message=message)


@remember
def executor_hash() -> str:
    """A hash over the executor: both its translator and its headers decide the outcome."""
    root = Path(harness.cudacpu.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
