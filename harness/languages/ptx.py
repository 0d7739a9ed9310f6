"""PTX: a ``.ptx`` file whose first comments say how its kernels are launched.

The driver of the card builds it. Where there is a CUDA toolkit, its ptxas reads it first, which
finds errors on any machine. The text is untrusted: it is matched by patterns, never parsed. What
these miss the driver finds.

Source of the grammar: *Parallel Thread Execution ISA*, sections "Identifiers", "Kernel and Function
Directives: .entry" and "Types".
"""

import re
from pathlib import Path

from harness.languages.base import Language
from harness.languages.build.cache import BuildOutcome, Cache, key_of
from harness.languages.build.compiler import CompilerCall
from harness.languages.build.diagnostics import renamed
from harness.languages.build.machine_code import ASSEMBLED, keep
from harness.languages.build.occupancy import max_shared_bytes, with_occupancy
from harness.languages.build.toolchain import NvccNotFound, find_assembler, find_nvcc
from harness.problem.dtypes import DTYPES
from harness.problem.expressions import SIZEOF_VAR
from harness.problem.gradable import Gradable
from harness.problem.package import Problem
from harness.problem.terms import Role
from harness.records.build import Build
from harness.records.result import Verdict
from harness.solution import suffixes
from harness.solution.contract import EntryPoint, contract
from harness.solution.launches import Launch, LaunchError, Launches, read_launches
from harness.solution.model import Artifact, BuildFailure, Solution, Target

SOURCE = "solution.ptx"
POINTER_BYTES = 8
MAX_NAMED = 10
_CUBIN_FILE = "solution.cubin"
NO_CPU_PATH = "PTX runs on NVIDIA GPUs alone, and there is none here (harness doctor)"

_SKIPPED = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"\n]*\"?", re.DOTALL)
_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$%][\w$]*)\s*(?:\(([^()]*)\))?", re.ASCII)
_TYPE = re.compile(r"\.[busf](8|16|32|64|128)\b")
_LENGTH = re.compile(r"\[\s*(\d{1,6})\s*\]\s*\Z")


class Ptx(Language):
    """PTX files."""

    name = "ptx"
    suffix = suffixes.PTX

    def build(
        self, solution: Solution, problem: Gradable, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Check the header and, where there is a ptxas, the code.

        Raises:
            MachineError: the sandbox for ptxas cannot be made.
        """
        if not isinstance(problem, Problem):
            return _invalid(f"{problem.slug} has no sizes that a header could name", None)
        try:
            each = read_launches(solution.text, problem)
        except LaunchError as error:
            return _invalid(f"{solution.display_path}:{error.line}: {error.reason}", None)
        fixed = {SIZEOF_VAR: DTYPES[dtype].itemsize}
        launches = Launches(each, fixed, max_shared_bytes(target.code), solution.display_path)
        outcome = _assembled(solution, problem, dtype, target, cache)
        build = Build(
            seconds=outcome.seconds,
            cached=outcome.cached,
            target=target.code or "ptx",
            log=renamed(outcome.log, SOURCE, solution.display_path),
            kernels=with_occupancy(outcome.kernels, target.code),
            contract=EntryPoint.SOLUTION.value,
        )
        if (failure := outcome.failure) is not None:
            message = renamed(failure.message, SOURCE, solution.display_path)
            return BuildFailure(verdict=failure.verdict, message=message, build=build)
        try:
            for launch in each:
                check_fit(launch, solution.text, problem, dtype)
            for shape in (*problem.benchmarks, *problem.cpu_benchmarks):
                launches.at(shape)
        except LaunchError as error:
            return _invalid(launches.message(error), build)
        if target.emulated:
            verdict = Verdict.NOT_EXECUTABLE_HERE
            return BuildFailure(verdict=verdict, message=NO_CPU_PATH, build=build)
        return Artifact(
            kind="ptx",
            target=target,
            source=solution.text,
            build=build,
            contract=contract(EntryPoint.SOLUTION, problem),
            launches=launches,
        )


LANGUAGE = Ptx()


def _invalid(message: str, build: Build | None) -> BuildFailure:
    return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=message, build=build)


def _assembled(
    solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
) -> BuildOutcome:
    """The errors and figures of ptxas; none without a ptxas, or a card to assemble for.

    What runs is built by the driver, whose assembler may be another version. What ptxas made is
    kept to be shown, with the lines of the file.
    """
    if target.arch is None:
        return BuildOutcome()
    try:
        nvcc = find_nvcc()
    except NvccNotFound as missing:
        if missing.named:
            raise
        return BuildOutcome()
    if (assembler := find_assembler(nvcc)) is None:
        return BuildOutcome()
    arch = f"-arch={target.code}"
    call = CompilerCall(
        tool="ptxas",
        version=nvcc.version,
        tools=(assembler,),
        command=(str(assembler), "-v", "-lineinfo", arch, "-o", _CUBIN_FILE, SOURCE),
        inputs={SOURCE: solution.text.encode()},
        source=SOURCE,
    )

    def build(folder: Path) -> BuildOutcome:
        outcome = call.build(folder, problem.limits.build_s)
        made = {} if outcome.failure else {ASSEMBLED: folder / _CUBIN_FILE}
        return outcome.model_copy(update={"files": made})

    outcome = cache.fetch(key_of({"kind": "ptx", "call": repr(call)}), build)
    keep(
        dict(outcome.files),
        solution=solution.hash,
        problem=problem.hash,
        dtype=dtype,
        target=target.code,
        compiler=f"ptxas of CUDA {nvcc.version}",
        cache=cache,
    )
    return outcome


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
    name, line = launch.kernel, launch.line
    if name not in kernels:
        there = ", ".join(list(kernels)[:MAX_NAMED]) or "none"
        raise LaunchError(line, f"launch: no .entry {name} in the file (there are: {there})")
    taken = kernels[name]
    given = [problem.parameters[index] for index in launch.arguments]
    if len(taken) != len(given):
        fault = f"{name} takes {len(taken)} parameters, and gets {len(given)}"
        names = ", ".join(parameter.name for parameter in given) or "none"
        raise LaunchError(line, f"launch: {fault}: {names} (choose with `// arguments:`)")
    for number, (wide, parameter) in enumerate(zip(taken, given, strict=True), start=1):
        tensor = parameter.role is Role.TENSOR
        bytes_ = POINTER_BYTES if tensor else parameter.data_type(dtype).itemsize
        if wide not in (0, bytes_):
            fault = f"parameter {number} of {name} has {wide} bytes"
            kind = "a pointer" if tensor else f"a {parameter.type}"
            raise LaunchError(line, f"launch: {fault}; {parameter.name} is {kind}, of {bytes_}")
