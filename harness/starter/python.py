"""Starting points in Python, from templates.

A template is the file without its head comment. It gets ``problem``, ``tensors`` and ``outputs``
(:class:`Tensor`), the ``signature`` line of the entry point, ``entry`` (the same, and lines by
which tensors of one element become vectors), ``arguments`` (the parameters' names, as a call passes
them), ``symbols`` (the names in the tensors' lengths and steps), and the functions ``fresh``,
``unravelled`` and ``tuple_``. Lines that come out too long are broken.
"""

import re
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.errors import UsageError
from harness.problem.describe import is_complex
from harness.problem.dtypes import VARIABLE_TYPE
from harness.problem.expressions import Expression
from harness.problem.model import Parameter
from harness.problem.package import Problem
from harness.problem.signature import python_signature
from harness.problem.terms import Direction
from harness.starter.comments import fresh, head, index_names
from harness.starter.rendering import rendered

_WIDTH = 100
_ARGUMENTS = re.compile(r"( *)(.*\()([^()]*)(\).*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor, as templates name what belongs to it; a single element is a vector to them."""

    name: str
    """Of the parameter."""
    dtype: str
    """Of an element; empty where that is the problem's variable type."""
    inout: bool
    """Whether it is read, and written as well."""
    complex: bool
    """Whether its elements are complex in every data type."""
    rank: int
    """The number of its dimensions."""
    shape: list[str]
    """``name.shape[0]`` and so on."""
    lengths: list[str]
    """Of the dimensions: a number, a size's name, or one that is made up for an expression."""
    steps: list[str]
    """Its strides in elements, in the same way; empty where it is dense and row-major."""
    dense_axis: int | None
    """The axis whose stride is 1 whatever the sizes: where a length is 1, strides do not tell."""
    indices: list[str]
    """A variable for the index along each dimension."""
    element: str
    """The element there: ``name[row, column]``."""
    kernel: str
    """The name of the kernel that fills it."""


def text(
    problem: Problem, command: str, *, template: Path, title: str, takes: Collection[str]
) -> str:
    """The file: a comment, and what ``template`` makes in the data types that it ``takes``.

    Raises:
        UsageError: it takes none of the problem's data types; ``title`` is what the message says.
    """
    kinds = {d: {tensor.data_type(d).name for tensor in problem.tensors} for d in problem.dtypes}
    dtypes = [dtype for dtype, names in kinds.items() if names <= set(takes)]
    if not dtypes:
        raise UsageError(
            f"{problem.slug}: there is no starter in {title}, which lacks its data types "
            f"({', '.join(problem.dtypes)}); start in another language"
        )
    tensors = [_tensor(problem, parameter) for parameter in problem.tensors]
    names = [name for tensor in tensors for name in (*tensor.lengths, *tensor.steps)]
    outputs = {parameter.name for parameter in problem.outputs}
    about = {
        "problem": problem,
        "tensors": tensors,
        "outputs": [tensor for tensor in tensors if tensor.name in outputs],
        "signature": python_signature(problem),
        "entry": "\n".join((python_signature(problem), *_views(problem))),
        "arguments": ", ".join(parameter.name for parameter in problem.parameters),
        "symbols": [name for name in dict.fromkeys(names) if not name.isdigit()],
        "fresh": partial(fresh, problem=problem),
        "unravelled": unravelled,
        "tuple_": _tuple,
    }
    code = rendered(template, about)
    types = ", ".join(dtypes)
    note = (
        "Write into the outputs; what is returned is ignored. (Entry points that return: "
        "docs/how-to/writing-solutions.md.)"
    )
    if problem.has_variable_type:
        note = f"VAR is the tensors' dtype: {types}. {note}"
    only = [] if tuple(dtypes) == problem.dtypes else [f"# dtypes: {types}", "#"]
    lines = [*only, *head(problem, command, "#", note=[note]), "", *code.split("\n")]
    return "\n".join(map(_wrapped, lines))


def _tensor(problem: Problem, parameter: Parameter) -> Tensor:
    if not parameter.shape:
        parameter = replace(parameter, shape=(Expression.parse(1),))
    name, rank = parameter.name, len(parameter.shape)
    indices = index_names(problem, parameter)
    steps = _symbols(problem, parameter.strides, f"{name}_stride")
    dense = steps or ["1" if axis == rank - 1 else "" for axis in range(rank)]
    variable = parameter.type == VARIABLE_TYPE
    return Tensor(
        name=name,
        dtype="" if variable else parameter.data_type(problem.dtypes[0]).name,
        inout=parameter.direction is Direction.INOUT,
        complex=is_complex(problem, parameter),
        rank=rank,
        shape=[f"{name}.shape[{axis}]" for axis in range(rank)],
        lengths=_symbols(problem, parameter.shape, f"{name}_length"),
        steps=steps,
        dense_axis=dense.index("1") if "1" in dense else None,
        indices=indices,
        element=f"{name}[{', '.join(indices)}]",
        kernel=fresh(f"fill_{name}", problem),
    )


def _views(problem: Problem) -> list[str]:
    """The lines that make vectors of tensors without dimensions."""
    names = [tensor.name for tensor in problem.tensors if not tensor.shape]
    return [f"    {name} = {name}.view(1)  # has no dimensions: one element" for name in names]


def _symbols(problem: Problem, expressions: Sequence[Expression], otherwise: str) -> list[str]:
    """A number or a name for each expression; ``otherwise`` begins those that are made up."""
    return [
        word if word.isdigit() or word.isidentifier() else fresh(f"{otherwise}{axis}", problem)
        for axis, word in enumerate(map(str, expressions))
    ]


def unravelled(element: str, lengths: Sequence[str]) -> list[str]:
    """The indices of element number ``element``: ``e // c // b``, ``e // c % b``, ``e % c``."""
    indices = []
    for axis, length in enumerate(lengths):
        index = " // ".join([element, *reversed(lengths[axis + 1 :])])
        indices.append(f"{index} % {length}" if axis else index)
    return indices


def _tuple(parts: Sequence[str]) -> str:
    """``(a, b)``, ``(a,)``."""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _wrapped(line: str) -> str:
    """``line``, or the same with what stands in its last parentheses on lines of its own."""
    found = _ARGUMENTS.fullmatch(line)
    if len(line) <= _WIDTH or found is None or line.startswith("#"):
        return line
    indent, before, arguments, after = found.groups()
    glued = arguments.rstrip(",").replace(": ", ":\0")
    inner = textwrap.fill(f"{glued},", _WIDTH - len(indent) - 4, break_long_words=False)
    inner = textwrap.indent(inner.replace("\0", " "), f"{indent}    ")
    return f"{indent}{before}\n{inner}\n{indent}{after}"
