"""Starting points in the frameworks whose kernels are Python, from the table of :mod:`.styles`."""

import re
import textwrap
from string import Template

from harness.problem.model import Direction, Parameter, Problem
from harness.problem.signature import python_signature
from harness.starter.comments import fresh, index_names, known_dtypes, python_head
from harness.starter.styles import LOCALS, STYLES, Style, unravelled

_WIDTH = 100
_ARGUMENTS = re.compile(r"( *)(.*\()([^()]*)(\).*)")


def text(problem: Problem, command: str, language: str) -> str:
    """The file: a comment, a kernel for each output, and the function that launches them.

    Raises:
        UsageError: the framework knows none of the problem's data types.
    """
    style = STYLES[language]
    dtypes = known_dtypes(problem, style.takes, style.title)
    each = [_names(style, problem, output) for output in problem.outputs]
    once = each[0]
    code = [Template(style.imports).substitute(once)]
    code += ["\n\n" + Template(style.kernel).substitute(own) for own in each]
    code += ["\n\n" + python_signature(problem)]
    code += [Template(style.before).substitute(once)] if style.before else []
    code += [Template(style.launch).substitute(own) for own in each]
    lines = [*python_head(problem, command, dtypes), "", *"\n".join(code).split("\n")]
    return "\n".join(map(_wrapped, lines)) + "\n"


def _names(style: Style, problem: Problem, output: Parameter) -> dict[str, str]:
    """What the templates of ``style`` name for ``output``."""
    parameters = ", ".join(p.name for p in problem.parameters)
    names = {local: fresh(local, problem) for local in LOCALS}
    lengths = [f"{output.name}.shape[{axis}]" for axis in range(len(output.shape))]
    indices = index_names(problem, output)
    places = zip(indices, unravelled(names["element"], lengths), strict=True)
    names |= {
        "kernel": fresh(f"fill_{output.name}", problem),
        "output": output.name,
        "parameters": parameters,
        "arguments": parameters,
        "indices": ", ".join(indices),
        "places": "\n".join(f"        {index} = {place}" for index, place in places),
    }
    names |= style.more(problem, output) if style.more else {}
    value = style.kept if output.direction is Direction.INOUT else style.zero
    return names | {"value": Template(value).substitute(names)}


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
