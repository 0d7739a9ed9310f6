"""The comment on top of a starting point: what the problem is, and what each parameter means."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence

from harness.errors import UsageError
from harness.problem import describe as words
from harness.problem.model import Direction, Parameter, Problem, Role
from harness.problem.signature import c_type
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
    return list(_commented(lines, mark))


def python_head(problem: Problem, command: str, dtypes: Sequence[str]) -> list[str]:
    """The comment of a Python file that is for ``dtypes``; where these are not all, it says so."""
    note = [
        f"VAR is the tensors' dtype: {', '.join(dtypes)}. Write into the outputs; what is "
        "returned is ignored. (Entry points that return: docs/how-to/writing-solutions.md.)"
    ]
    only = [] if tuple(dtypes) == problem.dtypes else [f"# dtypes: {', '.join(dtypes)}", "#"]
    return [*only, *head(problem, command, "#", note=note)]


def known_dtypes(problem: Problem, known: Collection[str], title: str) -> list[str]:
    """The data types of ``problem`` with which every tensor's elements are of a type ``known``.

    Raises:
        UsageError: there is none; ``title`` is what does not know them.
    """
    found = [
        dtype
        for dtype in problem.dtypes
        if all(tensor.data_type(dtype).name in known for tensor in problem.tensors)
    ]
    if not found:
        raise UsageError(
            f"{problem.slug}: there is no starter in {title}, which lacks its data types "
            f"({', '.join(problem.dtypes)}); start in another language"
        )
    return found


def dtypes(problem: Problem, names: dict[str, str]) -> str:
    """``float (float32), __half (float16)``: what ``VAR`` stands for."""
    return ", ".join(f"{names[dtype]} ({dtype})" for dtype in problem.dtypes)


def fresh(name: str, problem: Problem) -> str:
    """``name``, with underscores added until no parameter is called that."""
    taken = {parameter.name for parameter in problem.parameters}
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
        yield f"{parameter.name}  {kind}, {_format_values(parameter)}"
        return
    assert parameter.direction is not None
    direction = words.direction_of(parameter)
    yield f"{parameter.name}  {kind} {words.shape_of(parameter)}, {direction}"
    if parameter.strides:
        gaps = "" if _always_dense(parameter) else "; gaps are neither read nor written"
        yield f"{_INDENT}strides {words.strides_of(parameter)}, in elements{gaps}"
    else:
        yield f"{_INDENT}dense and row-major"
    yield f"{_INDENT}starts at {words.alignment_in_words(problem, parameter)}"
    if parameter.direction is not Direction.OUT:
        yield f"{_INDENT}{words.values_of(parameter)}"


def _always_dense(parameter: Parameter) -> bool:
    return len(parameter.shape) == 1 and str(parameter.strides[0]) == "1"


def _format_values(parameter: Parameter) -> str:
    known = words.range_of(parameter) or words.values_of(parameter)
    always = words.always_of(parameter)
    return f"{known}; always tried: {always}" if always else known
