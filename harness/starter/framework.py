"""Starting points in the Python frameworks, from the templates of :mod:`harness.frameworks`.

A template is the file without its head comment. It gets ``problem``, ``tensors`` and ``outputs``
(:class:`Tensor`), the ``signature`` line of the entry point, ``arguments`` (the parameters' names,
as a call passes them), ``symbols`` (the names in the tensors' lengths and steps), and the functions
``fresh``, ``unravelled`` and ``tuple_``. Lines that come out too long are broken.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from jinja2 import Environment, StrictUndefined

from harness.frameworks import Framework
from harness.problem.dtypes import VARIABLE_TYPE
from harness.problem.expressions import Expression
from harness.problem.model import Direction, Parameter, Problem
from harness.problem.signature import python_signature
from harness.starter.comments import fresh, index_names, known_dtypes, python_head

_WIDTH = 100
_ARGUMENTS = re.compile(r"( *)(.*\()([^()]*)(\).*)")
_TEMPLATES = Environment(
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701 - Python files, from names that the problem's reader has checked
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor, as templates name what belongs to it."""

    name: str
    """Of the parameter."""

    dtype: str
    """Of an element; empty where that is the problem's variable type."""

    inout: bool
    """Whether it holds something before the call that is read, and is written as well."""

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
    """What the kernel is called that fills it."""


def text(problem: Problem, command: str, *, framework: Framework) -> str:
    """The file: a comment, and what the template makes.

    Raises:
        UsageError: the framework knows none of the problem's data types.
    """
    dtypes = known_dtypes(problem, framework.takes, framework.title)
    tensors = [_tensor(problem, parameter) for parameter in problem.tensors]
    names = [name for tensor in tensors for name in (*tensor.lengths, *tensor.steps)]
    outputs = {parameter.name for parameter in problem.outputs}
    code = _TEMPLATES.from_string(framework.template.read_text(encoding="utf-8")).render(
        problem=problem,
        tensors=tensors,
        outputs=[tensor for tensor in tensors if tensor.name in outputs],
        signature=python_signature(problem),
        arguments=", ".join(parameter.name for parameter in problem.parameters),
        symbols=[name for name in dict.fromkeys(names) if not name.isdigit()],
        fresh=partial(fresh, problem=problem),
        unravelled=unravelled,
        tuple_=_tuple,
    )
    lines = [*python_head(problem, command, dtypes), "", *code.split("\n")]
    return "\n".join(map(_wrapped, lines))


def _tensor(problem: Problem, parameter: Parameter) -> Tensor:
    """What templates are told of ``parameter``."""
    name = parameter.name
    indices = index_names(problem, parameter)
    variable = parameter.type == VARIABLE_TYPE
    symbol = partial(fresh, problem=problem)
    return Tensor(
        name=name,
        dtype="" if variable else parameter.data_type(problem.dtypes[0]).name,
        inout=parameter.direction is Direction.INOUT,
        rank=len(parameter.shape),
        shape=[f"{name}.shape[{axis}]" for axis in range(len(parameter.shape))],
        lengths=_symbols(parameter.shape, f"{name}_length", symbol),
        steps=_symbols(parameter.strides, f"{name}_stride", symbol),
        dense_axis=_dense_axis(parameter),
        indices=indices,
        element=f"{name}[{', '.join(indices)}]",
        kernel=fresh(f"fill_{name}", problem),
    )


def _symbols(
    expressions: Iterable[Expression], otherwise: str, free: Callable[[str], str]
) -> list[str]:
    """A number or a name for each expression; ``otherwise`` begins those that are made up."""
    return [
        said if said.isdigit() or said.isidentifier() else free(f"{otherwise}{axis}")
        for axis, said in enumerate(map(str, expressions))
    ]


def _dense_axis(tensor: Parameter) -> int | None:
    steps = [str(step) for step in tensor.strides]
    if not steps:
        return len(tensor.shape) - 1
    return steps.index("1") if "1" in steps else None


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
