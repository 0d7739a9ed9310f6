"""The kernels that a PTX file declares, and the verdict and figures of ptxas.

The text is untrusted: it is matched by patterns, never parsed. What these miss the driver finds.

Source of the grammar: *Parallel Thread Execution ISA*, sections "Identifiers", "Kernel and Function
Directives: .entry" and "Types".
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.languages.build import ptxas
from harness.languages.build.cache import BuildOutcome
from harness.languages.build.compiler import compile_failure, failed, limit_failure, run_compiler
from harness.languages.build.diagnostics import neutral
from harness.languages.build.toolchain import Nvcc
from harness.problem.model import Problem, Role
from harness.solution.launches import Launch, LaunchError
from harness.solution.model import Target

SOURCE = "solution.ptx"
POINTER_BYTES = 8
MAX_NAMED = 10

_SKIPPED = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"\n]*\"?", re.DOTALL)
_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$%][\w$]*)\s*(?:\(([^()]*)\))?", re.ASCII)
_TYPE = re.compile(r"\.[busf](8|16|32|64|128)\b")
_LENGTH = re.compile(r"\[\s*(\d{1,6})\s*\]\s*\Z")


def entries(text: str) -> dict[str, tuple[int, ...]]:
    """The kernels of ``text`` and the bytes of each of their parameters; 0 for one unknown."""
    found = {}
    for match in _ENTRY.finditer(_SKIPPED.sub(" ", text)):
        declared = (match[2] or "").strip()
        found[match[1]] = tuple(map(_parameter_bytes, declared.split(","))) if declared else ()
    return found


def _parameter_bytes(parameter: str) -> int:
    types = _TYPE.findall(parameter)
    if len(types) != 1:
        return 0
    length = _LENGTH.search(parameter)
    return int(types[0]) // 8 * (int(length[1]) if length else 1)


def check_fit(launch: Launch, text: str, problem: Problem, dtype: str) -> None:
    """Make sure that the kernel is there and takes what the header gives it.

    Raises:
        LaunchError: it is not, or takes something else.
    """
    kernels = entries(text)
    if launch.kernel not in kernels:
        there = ", ".join(list(kernels)[:MAX_NAMED]) or "none"
        raise LaunchError(
            launch.line, f"launch: no .entry {launch.kernel} in the file (there are: {there})"
        )
    taken = kernels[launch.kernel]
    given = [problem.parameters[index] for index in launch.arguments]
    if len(taken) != len(given):
        names = ", ".join(parameter.name for parameter in given) or "none"
        raise LaunchError(
            launch.line,
            f"launch: {launch.kernel} takes {len(taken)} parameters, and gets {len(given)}: "
            f"{names} (choose with `// arguments:`)",
        )
    for number, (wide, parameter) in enumerate(zip(taken, given, strict=True), start=1):
        tensor = parameter.role is Role.TENSOR
        bytes_ = POINTER_BYTES if tensor else parameter.data_type(dtype).itemsize
        if wide not in (0, bytes_):
            kind = "a pointer" if tensor else f"a {parameter.type}"
            raise LaunchError(
                launch.line,
                f"launch: parameter {number} of {launch.kernel} has {wide} bytes; "
                f"{parameter.name} is {kind}, of {bytes_}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PtxSource:
    """A PTX source to assemble, and the ptxas for it; ``seconds`` limits its wall time."""

    source: bytes
    target: Target
    assembler: Path
    version: str
    seconds: float

    @property
    def command(self) -> list[str]:
        """The call of ptxas."""
        arch = f"-arch={self.target.code}"
        return [str(self.assembler), "-v", arch, "-o", "solution.cubin", SOURCE]

    def key(self) -> dict[str, str | bytes]:
        """All that the outcome depends on, for :func:`harness.languages.build.cache.key_of`."""
        return {"source": self.source, "ptxas": "\0".join([self.version, *self.command])}


def find_assembler(nvcc: Nvcc) -> Path | None:
    """The ptxas that came with ``nvcc``."""
    for folder in (nvcc.path.parent, nvcc.path.resolve().parent):
        if (found := shutil.which("ptxas", path=str(folder))) is not None:
            return Path(found)
    return None


def assemble(job: PtxSource, folder: Path) -> BuildOutcome:
    """Assemble ``job`` in the empty directory ``folder``: for its errors and its figures alone.

    What runs is built by the driver, whose assembler may be another version.
    """
    (folder / SOURCE).write_bytes(job.source)
    finished = run_compiler(job.command, folder, job.seconds, [job.assembler])
    log = neutral(finished.output, folder)
    stopped = limit_failure("ptxas", finished, job.seconds)
    if stopped is not None:
        return BuildOutcome(failure=stopped, log=log, seconds=finished.seconds, keep=False)
    log = ptxas.without_info(log)
    if not finished.ok:
        return failed(compile_failure("ptxas", finished, log), log, finished.seconds)
    kernels = ptxas.parse(finished.output)
    return BuildOutcome(log=log, kernels=kernels, seconds=finished.seconds)
