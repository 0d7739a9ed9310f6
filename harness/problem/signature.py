"""The entry point that a submission must have, written from the problem's parameters."""

from harness.problem.dtypes import VARIABLE_TYPE
from harness.problem.gradable import Gradable
from harness.problem.terms import Direction, FormalParameter, Role

ENTRY_POINT = "solution"


def c_prototype(problem: Gradable, entry: str = ENTRY_POINT) -> str:
    """The declaration of ``entry`` in C++; ``VAR`` is a macro that stands for the data type."""
    return f'extern "C" void {entry}({", ".join(c_arguments(problem))});'


def python_signature(problem: Gradable) -> str:
    """The first line of the function in Python."""
    return f"def {ENTRY_POINT}({', '.join(p.name for p in problem.parameters)}):"


def c_type(parameter: FormalParameter) -> str:
    """The type of one element, or of the value, in C; ``VAR`` for the problem's data type."""
    return "VAR" if parameter.type == VARIABLE_TYPE else parameter.type


def c_arguments(problem: Gradable) -> list[str]:
    """The parameters as C++ declares them, in order: ``const VAR* matrix_a``, ``size_t m``."""
    arguments = []
    for p in problem.parameters:
        const = "const " if p.direction is Direction.IN else ""
        pointer = "*" if p.role is Role.TENSOR else ""
        arguments.append(f"{const}{c_type(p)}{pointer} {p.name}")
    return arguments
