"""Check that the functions of ``reference.py`` and the parameters they are for belong together.

The file is read and not run: whether its functions can be called shows when a grade needs them.
"""

import contextlib
import symtable
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import Diagnostic
from harness.problem.format.fields import Fields
from harness.problem.model import CHECK, DRAW, REFERENCE_FILE, Parameter
from harness.problem.terms import Direction, Role

_ARGUMENTS: Mapping[str, Sequence[str]] = {
    DRAW: ("generator", "family"),
    CHECK: ("got", "expected"),
}
"""Function → its arguments that are no parameters."""


def check_functions(
    fields: Fields, file: Path, unpassed: Sequence[Parameter], parameters: Sequence[Parameter]
) -> None:
    """Complain of ``distribution: draw`` without a function ``draw`` in ``file``, and the reverse.

    Where the file is missing, or is no Python, others say so.
    """
    drawn = [i for i, p in enumerate(parameters) if p.drawn]
    for i in drawn:
        what = parameters[i]
        if what.role is not Role.TENSOR:
            message = f"{DRAW} makes tensors, no {what.role}"
            fields.file.complain(("parameters", i, "values"), message)
        elif what.direction is Direction.OUT:
            message = f"{DRAW} makes what is read, and {what.name} is only written"
            fields.file.complain(("parameters", i, "values"), message)
    found = _top_level(file)
    if found is None:
        return
    if drawn and DRAW not in found:
        message = f"{REFERENCE_FILE} defines no function {DRAW}"
        fields.file.complain(("parameters", drawn[0], "values"), message)
    if DRAW in found and not drawn:
        message = f"no parameter has values: {{distribution: {DRAW}}}"
        fields.file.diagnostics.append(Diagnostic(file, found[DRAW], DRAW, message))
    for function in _ARGUMENTS.keys() & found.keys():
        for key, declared in (("sizes", unpassed), ("parameters", parameters)):
            for i, p in enumerate(declared):
                if p.name in _ARGUMENTS[function]:
                    message = f"{p.name} is another argument of {function} in {REFERENCE_FILE}"
                    fields.file.complain((key, i, "name"), message)


def _top_level(file: Path) -> dict[str, int] | None:
    """The functions of this module that a file binds at its top level, and a line of each.

    None where that cannot be told without running it.
    """
    try:
        text = file.read_text(encoding="utf-8")
        table = symtable.symtable(text, str(file), "exec")
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    lines = {child.get_name(): child.get_lineno() for child in table.get_children()}
    found = {}
    for name in _ARGUMENTS:
        with contextlib.suppress(KeyError):
            symbol = table.lookup(name)
            if symbol.is_assigned() or symbol.is_imported():
                found[name] = lines.get(name, 1)
    return None if "import *" in text else found
