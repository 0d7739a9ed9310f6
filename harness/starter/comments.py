"""The comment on top of a starting point: what the problem is, and what each parameter means."""

import textwrap
from collections.abc import Iterable, Iterator

from harness.problem import describe as words
from harness.problem.model import Parameter
from harness.problem.package import Problem
from harness.problem.signature import c_type
from harness.problem.terms import Direction, Role
from harness.text.plain import plain

_WIDTH = 100
_INDENT = "    "


def head(problem: Problem, command: str, mark: str, *, note: Iterable[str]) -> list[str]:
    """Comment lines, each beginning with ``mark``; ``note`` is the language's own part."""
    lines = [f"First version for “{problem.title}”, to be made right and then fast.", ""]
    lines += [f"{_INDENT}harness problems show {problem.slug}", f"{_INDENT}{command}", ""]
    lines += [*note, ""]
    for parameter in problem.parameters:
        lines += _format_parameter(problem, parameter)
    for size in problem.unpassed:
        lines.append(f"{size.name}  not passed: {words.range_of(size)}{_tried(size)}")
    return list(_commented(lines, mark))


def fresh(name: str, problem: Problem) -> str:
    """``name``, with underscores added until no parameter and no size is called that."""
    taken = {parameter.name for parameter in (*problem.parameters, *problem.unpassed)}
    while name in taken:
        name += "_"
    return name


def index_names(problem: Problem, parameter: Parameter) -> list[str]:
    """A name for the index along each dimension."""
    names = {1: ["i"], 2: ["row", "column"]}.get(
        len(parameter.shape), [f"i{d}" for d in range(len(parameter.shape))]
    )
    return [fresh(name, problem) for name in names]


def _commented(lines: Iterable[str], mark: str) -> Iterator[str]:
    for line in lines:
        # A backslash at the end would make the next line part of a C++ comment.
        shown = plain(line).rstrip("\\")
        indent = " " * (len(shown) - len(shown.lstrip()))
        for part in textwrap.wrap(
            shown, _WIDTH - len(mark) - 1, subsequent_indent=indent + "  ", break_long_words=False
        ) or [""]:
            yield f"{mark} {part}".rstrip()


def _format_parameter(problem: Problem, parameter: Parameter) -> Iterator[str]:
    """Type, shape, layout, alignment and values of a parameter, a line each."""
    kind = c_type(parameter)
    if parameter.role is not Role.TENSOR:
        values = words.range_of(parameter) or words.values_of(parameter)
        yield f"{parameter.name}  {kind}, {values}{_tried(parameter)}"
        return
    assert parameter.direction is not None
    direction = words.direction_of(parameter)
    yield f"{parameter.name}  {kind} {words.shape_of(parameter)}, {direction}"
    if not parameter.shape:
        yield f"{_INDENT}one element"
    elif parameter.strides:
        dense = len(parameter.shape) == 1 and str(parameter.strides[0]) == "1"
        gaps = "" if dense else "; gaps are neither read nor written"
        yield f"{_INDENT}strides {words.strides_of(parameter)}, in elements{gaps}"
    else:
        yield f"{_INDENT}dense and row-major"
    yield f"{_INDENT}starts at {words.alignment_in_words(problem, parameter)}"
    if parameter.direction is not Direction.OUT:
        yield f"{_INDENT}{words.values_of(parameter)}"


def _tried(number: Parameter) -> str:
    always = words.always_of(number)
    return f"; always tried: {always}" if always else ""
