"""The machine code (SASS) of what was built, with the lines of the file that it comes from.

A build leaves what it made beside the build cache's own entry, under what a record of its result
says: file, problem, data type and target. Whoever asks has nvdisasm write it out, in a sandbox, for
it comes from untrusted source; the text is kept, too. A record itself holds none of it.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from harness.errors import MachineError
from harness.languages.build.cache import BuildOutcome, Cache, key_of
from harness.languages.build.ptxas import demangled_names
from harness.languages.build.toolchain import find_demangler, find_tool
from harness.records.result import Result
from harness.sandbox.command import CommandResult, clean_environment, run_limited
from harness.sandbox.support import parts

CUBIN = "cubin"
LIBRARY = "library"
ASSEMBLED = "assembled"
"""What a build left: the kernels of CUDA C++, a library with them, and kernels of submitted PTX."""
LONGEST = 20_000
"""Instructions that are shown of a file."""
_LISTING = "listing"
_PATIENCE_S = 30.0
_MEMORY_BYTES = 2 << 30
_OUTPUT_BYTES = 4 << 20
_MOST_FILES = 8
"""Of a library: nvcc puts all kernels of a file into one."""

_PTX = ".nv_debug_ptx_txt"
"""What ptxas calls the file that it reads."""
_FROM = re.compile(r'^\s*//## File "([^"]*)", line (\d{1,8})\b')
_SECTION = re.compile(r"^\.text\.([\w$.]{1,2000}):$")
_LABEL = re.compile(r"^([\w$.]{1,2000}):$")
_INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,8})\*/\s+(.*\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction, or a label, whose ``address`` is empty."""

    address: str
    """Hexadecimal, from the kernel's start."""
    text: str
    """As nvdisasm writes it: untrusted."""
    line: int
    """The line of the submitted file that it comes from, from 1; 0 where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The instructions of one kernel, under its name in the source: untrusted."""

    name: str
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCode:
    """What a file was compiled to."""

    compiler: str
    """With its version, as ``nvcc 13.0.88``."""
    kernels: tuple[Kernel, ...]
    """In the order of the file that the compiler wrote."""
    whole: bool
    """Whether it is all of it."""


def keep(
    files: dict[str, Path],
    *,
    solution: str,
    problem: str,
    dtype: str,
    target: str,
    compiler: str,
    cache: Cache,
) -> None:
    """Keep the cubin of a build, else its library, for :func:`machine_code`; without, nothing.

    Args:
        files: what was built, by role.
        solution: hash of the submitted file.
        problem: hash of the problem.
        dtype: that ``[VAR]`` stood for.
        target: as the record of the build says it.
        compiler: what built it, with its version.
        cache: where builds are kept.
    """
    role = next((each for each in (CUBIN, ASSEMBLED, LIBRARY) if each in files), None)
    if role is not None:
        outcome = BuildOutcome(files={role: files[role]}, log=compiler)
        cache.put(_key(solution, problem, dtype, target), outcome)


def machine_code(result: Result, source: str, cache: Cache) -> MachineCode | None:
    """The machine code of ``result``, if its build was kept here and nvdisasm can read it here.

    ``source`` is the name that a file of CUDA C++ had for the compiler.
    """
    if result.build is None:
        return None
    about = result.solution.hash, result.problem.hash, result.dtype, result.build.target
    kept = cache.stored(_key(*about))
    if kept is None or (disassembler := _tool("nvdisasm")) is None:
        return None
    key = key_of({"kind": _LISTING, "of": repr(about), "by": kept.log, "tool": str(disassembler)})
    try:
        listed = cache.fetch(key, partial(_listing, kept, disassembler))
    except MachineError:  # a cache that cannot be written, no sandbox: boards do without
        return None
    if _LISTING not in listed.files:
        return None
    text = listed.files[_LISTING].read_text(encoding="utf-8", errors="replace")
    kernels = tuple(_kernels(text, _PTX if ASSEMBLED in kept.files else source))
    if not kernels:
        return None
    names = demangled_names([each.name for each in kernels], find_demangler())
    renamed = (
        Kernel(name=name, instructions=kernel.instructions)
        for name, kernel in zip(names, kernels, strict=True)
    )
    whole = len(text) < _OUTPUT_BYTES and sum(len(e.instructions) for e in kernels) < LONGEST
    return MachineCode(compiler=kept.log, kernels=tuple(renamed), whole=whole)


def _key(solution: str, problem: str, dtype: str, target: str) -> str:
    return key_of(
        {"kind": "built", "file": solution, "problem": problem, "type": dtype, "target": target}
    )


def _tool(name: str) -> Path | None:
    """A program of the CUDA toolkit, else the one that Triton brings along; None without either."""
    if found := find_tool(name):
        return found
    triton = find_spec("triton")
    if triton is None or triton.origin is None:
        return None
    brought = Path(triton.origin).parent / "backends/nvidia/bin" / name
    return brought if brought.is_file() else None


def _listing(kept: BuildOutcome, disassembler: Path, folder: Path) -> BuildOutcome:
    """The listing as a file in ``folder``; without files where the tools make nothing of it."""
    for role, path in kept.files.items():
        shutil.copyfile(path, folder / f"code.{role}")
    if LIBRARY in kept.files:
        if (extractor := _tool("cuobjdump")) is None:
            return BuildOutcome(reusable=False)
        _run((str(extractor), "-xelf", "all", f"code.{LIBRARY}"), extractor, folder)
    text, lines = "", "-gp" if ASSEMBLED in kept.files else "-gi"
    found = (path for role in (CUBIN, ASSEMBLED) for path in folder.glob(f"*.{role}"))
    for path in sorted(found)[:_MOST_FILES]:
        done = _run((str(disassembler), lines, "-c", f"./{path.name}"), disassembler, folder)
        text += done.output if done.ok else ""
    if not text:
        return BuildOutcome(reusable=False)
    (folder / _LISTING).write_text(text[:_OUTPUT_BYTES], encoding="utf-8")
    return BuildOutcome(files={_LISTING: folder / _LISTING})


def _run(command: tuple[str, ...], tool: Path, folder: Path) -> CommandResult:
    return run_limited(
        command,
        cwd=folder,
        seconds=_PATIENCE_S,
        memory_bytes=_MEMORY_BYTES,
        output_bytes=_OUTPUT_BYTES,
        environment=clean_environment(folder, [tool.parent]),
        readable=parts(tool),
    )


def _kernels(listing: str, source: str) -> Iterator[Kernel]:
    """The kernels of nvdisasm's ``listing``, without what only fills up the end of each."""
    name, found, left = "", list[Instruction](), LONGEST
    for section, instruction in _instructions(listing, source):
        if section != name:
            yield from _kernel(name, found)
            name, found = section, []
        if left:
            found.append(instruction)
            left -= 1
    yield from _kernel(name, found)


def _kernel(name: str, found: list[Instruction]) -> Iterator[Kernel]:
    while found and (found[-1].text == "NOP" or not found[-1].address):
        found.pop()
    if name and found:
        yield Kernel(name=name, instructions=tuple(found))


def _instructions(listing: str, source: str) -> Iterator[tuple[str, Instruction]]:
    """Each instruction and label with the name of its kernel.

    Where a function was inlined the lines that called it follow its own: the first of ``source``
    counts.
    """
    section, line, places = "", 0, False
    for text in listing.splitlines():
        if place := _FROM.match(text):
            if not places:  # the first of those above one instruction
                line = 0
            if not line and place[1].rpartition("/")[2] == source:
                line = int(place[2])
            places = True
            continue
        places = False
        if found := _SECTION.match(text):
            section, line = found[1], 0
        elif found := _INSTRUCTION.match(text):
            words = " ".join(found[2].removesuffix(";").split())
            yield section, Instruction(address=found[1], text=words, line=line)
        elif (found := _LABEL.match(text)) and section and found[1] != section:
            yield section, Instruction(address="", text=found[1], line=0)
