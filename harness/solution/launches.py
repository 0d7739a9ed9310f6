"""The launches of a PTX file's kernels, from the comments that it begins with.

PTX has no host code, so a header says what a host would do. Each ``launch`` begins one, the lines
below belong to it, and the launches of a call run in this order::

    // launch: vector_add
    //   grid: ceil(n / 256)
    //   block: 256
    //   shared: 0
    //   arguments: x, y, z, n

Numbers are expressions in the problem's sizes; ``grid`` and ``block`` have one to three of them,
``shared`` counts bytes beside what the kernel declares (0 if absent), and ``arguments`` are
parameters of the problem (all in order if absent). The judge evaluates expressions for each case;
the runner gets numbers.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.problem.expressions import Expression, ExpressionError, Number
from harness.problem.package import Problem
from harness.text.plain import quoted
from harness.text.suggest import did_you_mean
from harness.wire.arguments import KernelLaunch

MAX_LAUNCHES = 64
MAX_ARGUMENTS = 64
MAX_CHARACTERS = 2000
"""Of one line; the three limits keep all launches of a call within one message to the runner."""

MAX_BLOCKS = (2**31 - 1, 65535, 65535)
MAX_THREADS = (1024, 1024, 64)
MAX_THREADS_OF_A_BLOCK = 1024
"""Source: *CUDA Programming Guide*, appendix "Compute Capabilities"; the same since 3.0."""

_LINE = re.compile(r"\s*//\s*([A-Za-z]{1,20})\s*:(.*)")
_KERNEL = re.compile(r"[A-Za-z_$%][\w$]{0,199}", re.ASCII)
_FIELDS = ("launch", "grid", "block", "shared", "arguments")
_OTHERS = ("dtypes", "dtype", "verdict")
"""Lines of other headers that may stand between those of a launch."""

_Lines = dict[str, tuple[int, str]]
"""The lines of one launch: field → number of the line, text behind the colon."""


class LaunchError(ValueError):
    """A header without launches, or one that cannot be read or done; raised by all below."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        super().__init__(f"line {line}: {reason}")


@dataclass(frozen=True, slots=True)
class Numbers:
    """The expressions of one line."""

    field: str
    line: int
    expressions: tuple[Expression, ...]

    def values(self, sizes: Mapping[str, Number]) -> list[int]:
        """The values of the expressions for these sizes: whole numbers."""
        try:
            return [expression.whole(sizes) for expression in self.expressions]
        except ExpressionError as error:
            raise LaunchError(self.line, f"{self.field}: {error}{_given(sizes)}") from None

    def dimensions(self, sizes: Mapping[str, Number], limits: Sequence[int]) -> tuple[int, ...]:
        """Values in x, y, z, each from 1 to its limit."""
        values = self.values(sizes)
        for expression, value, limit in zip(self.expressions, values, limits, strict=False):
            if not 1 <= value <= limit:
                found = f"{self.field}: {expression} is {value}{_given(sizes)}"
                raise LaunchError(self.line, f"{found}; 1 to {limit} are allowed")
        return (*values, *[1] * (3 - len(values)))


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel, in expressions."""

    kernel: str
    """The kernel's name."""
    line: int
    """The line of the file that begins the launch."""
    grid: Numbers
    """Blocks in x, y, z: one to three expressions."""
    block: Numbers
    """Threads in x, y, z: one to three expressions."""
    shared: Numbers
    """Bytes of dynamic shared memory: one expression."""
    arguments: tuple[int, ...]
    """Indices of the problem's parameters."""

    def at(self, sizes: Mapping[str, Number], max_shared_bytes: int) -> KernelLaunch:
        """The launch in numbers, as a message to the runner has it."""
        grid = self.grid.dimensions(sizes, MAX_BLOCKS)
        block = self.block.dimensions(sizes, MAX_THREADS)
        threads = math.prod(block)
        if threads > MAX_THREADS_OF_A_BLOCK:
            found = f"block: {' · '.join(map(str, block))} = {threads} threads{_given(sizes)}"
            message = f"{found}; a block has {MAX_THREADS_OF_A_BLOCK} at most"
            raise LaunchError(self.block.line, message)
        (shared,) = self.shared.values(sizes)
        if not 0 <= shared <= max_shared_bytes:
            found = f"shared: {self.shared.expressions[0]} is {shared}{_given(sizes)}"
            message = f"{found}; a block has 0 to {max_shared_bytes} bytes"
            raise LaunchError(self.shared.line, message)
        return KernelLaunch(
            kernel=self.kernel, grid=grid, block=block, shared=shared, arguments=self.arguments
        )


@dataclass(frozen=True, slots=True)
class Launches:
    """All launches of a file, in order.

    ``fixed`` are values that do not depend on the case, such as the bytes of ``VAR``.
    """

    each: tuple[Launch, ...]
    fixed: Mapping[str, Number]
    max_shared_bytes: int
    """Of one block."""
    shown: str
    """The file's name in messages."""

    def at(self, values: Mapping[str, Number]) -> tuple[KernelLaunch, ...]:
        """Every launch in numbers, for a case with these sizes."""
        sizes = {**values, **self.fixed}
        return tuple(launch.at(sizes, self.max_shared_bytes) for launch in self.each)

    def message(self, error: LaunchError) -> str:
        """The error with its place in the file."""
        return f"{self.shown}:{error.line}: {error.reason}"


def read_launches(text: str, problem: Problem) -> tuple[Launch, ...]:
    """The launches in the first comments of ``text``, at least one."""
    found: list[_Lines] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("//"):
            break
        if (match := _LINE.fullmatch(line)) is None:
            continue
        field, rest = match[1].lower(), match[2].strip()
        if field == "launch":
            if len(found) == MAX_LAUNCHES:
                raise LaunchError(number, f"more than {MAX_LAUNCHES} launches")
            if not _KERNEL.fullmatch(rest):
                raise LaunchError(number, f"launch: {quoted(rest)} is no name of a kernel")
            found.append({field: (number, rest)})
        elif field in _FIELDS:
            if not found:
                raise LaunchError(number, f"{field}: belongs below a line `// launch: KERNEL`")
            if field in found[-1]:
                raise LaunchError(number, f"{field}: is said twice of this launch")
            if len(rest) > MAX_CHARACTERS:
                raise LaunchError(number, f"{field}: is longer than {MAX_CHARACTERS} characters")
            found[-1][field] = number, rest
        # A word that is nearly a field is a mistake; others before a colon are prose.
        elif found and field not in _OTHERS and (hint := did_you_mean(field, _FIELDS, cutoff=0.7)):
            raise LaunchError(number, f"{field}: is unknown here{hint}")
    if not found:
        message = "no line says `// launch: KERNEL`: PTX has no host code"
        raise LaunchError(1, f"{message} (docs/reference/languages.md)")
    return tuple(_launch(lines, problem) for lines in found)


def _launch(lines: _Lines, problem: Problem) -> Launch:
    line, kernel = lines["launch"]
    sizes = [size.name for size in problem.sizes]
    return Launch(
        kernel=kernel,
        line=line,
        grid=_numbers("grid", lines, sizes, max_count=3),
        block=_numbers("block", lines, sizes, max_count=3),
        shared=_numbers("shared", {"shared": (line, "0"), **lines}, sizes, max_count=1),
        arguments=_arguments(lines, [parameter.name for parameter in problem.parameters]),
    )


def _numbers(field: str, lines: _Lines, sizes: Sequence[str], *, max_count: int) -> Numbers:
    line, rest = lines.get(field, (lines["launch"][0], ""))
    if not rest:
        raise LaunchError(line, f"{field}: is missing; say `// {field}: NUMBER`")
    parts = _split(rest)
    if len(parts) > max_count:
        raise LaunchError(line, f"{field}: has {len(parts)} numbers; {max_count} at most")
    expressions = []
    for part in parts:
        try:
            expression = Expression.parse(part)
        except ExpressionError as error:
            raise LaunchError(line, f"{field}: {error}") from None
        if unknown := sorted(expression.names - set(sizes)):
            hint = did_you_mean(unknown[0], sizes) or f" (the sizes are {', '.join(sizes)})"
            raise LaunchError(line, f"{field}: {unknown[0]} is no size of the problem{hint}")
        expressions.append(expression)
    return Numbers(field, line, tuple(expressions))


def _arguments(lines: _Lines, names: Sequence[str]) -> tuple[int, ...]:
    line, rest = lines.get("arguments", (lines["launch"][0], ", ".join(names)))
    chosen = [part.strip() for part in rest.split(",")] if rest else []
    if len(chosen) > MAX_ARGUMENTS:
        raise LaunchError(line, f"arguments: are {len(chosen)}; {MAX_ARGUMENTS} at most")
    for name in chosen:
        if name not in names:
            hint = did_you_mean(name, names) or f" (the parameters are {', '.join(names)})"
            message = f"arguments: {quoted(name)} is no parameter of the problem{hint}"
            raise LaunchError(line, message)
    return tuple(map(names.index, chosen))


def _split(rest: str) -> list[str]:
    """At the commas that are outside of all parentheses."""
    parts, depth = [""], 0
    for character in rest:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _given(sizes: Mapping[str, Number]) -> str:
    """The sizes, for the end of a message."""
    named = [f"{name}={value}" for name, value in sizes.items() if name.isidentifier()]
    return f" with {', '.join(named)}" if named else ""
