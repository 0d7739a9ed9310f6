"""Starting points that call a library on whole arrays: PyTorch, CuPy, nvmath-python."""

from dataclasses import dataclass

from harness.problem.dtypes import DTYPES
from harness.problem.model import Direction, Problem
from harness.problem.signature import python_signature
from harness.starter.comments import known_dtypes, python_head


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """How files call one library.

    ``takes`` are the data types that it knows. ``fill`` writes zeros into the tensor ``{0}``,
    ``keep`` what it holds already. ``hint`` says how it meets tensors.
    """

    title: str
    module: str
    fill: str
    keep: str
    takes: frozenset[str] = frozenset(DTYPES)
    hint: str = ""


LIBRARIES = {
    "python": Library(
        title="PyTorch",
        module="torch",
        fill="{0}.copy_(torch.zeros_like({0}))",
        keep="{0}.copy_({0})",
    ),
    "nvmath": Library(
        title="nvmath-python",
        module="nvmath",
        fill="{0}.zero_()",
        keep="{0}.mul_(1)",
        hint="nvmath.linalg.advanced.matmul and nvmath.fft.fft take and return such tensors",
    ),
    "cupy": Library(
        title="CuPy",
        module="cupy",
        fill="cupy.asarray({0})[...] = 0",
        keep="cupy.asarray({0})[...] *= 1",
        takes=frozenset(DTYPES) - {"bfloat16"},
        hint="cupy.asarray makes an array of a tensor without copying it",
    ),
}
"""By the name of the language."""


def text(problem: Problem, command: str, language: str) -> str:
    """The file: a comment, and a function that writes every output.

    Raises:
        UsageError: the library knows none of the problem's data types.
    """
    library = LIBRARIES[language]
    dtypes = known_dtypes(problem, library.takes, library.title)
    lines = [*python_head(problem, command, dtypes), "", f"import {library.module}", "", ""]
    lines += [python_signature(problem), "    # Here the right answer is to be computed."]
    if library.hint:
        lines.append(f"    # ({library.hint}.)")
    for output in problem.outputs:
        if output.direction is Direction.INOUT:
            lines.append(f"    {library.keep.format(output.name)}  # what it holds before the call")
        else:
            lines.append(f"    {library.fill.format(output.name)}")
    return "\n".join(lines) + "\n"
