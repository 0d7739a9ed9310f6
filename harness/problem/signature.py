"""The entry point that a submission must have, written from the problem's parameters."""

from harness.problem.model import VARIABLE_TYPE, Direction, Parameter, Problem, Role

ENTRY_POINT = "solution"


def c_prototype(problem: Problem, entry: str = ENTRY_POINT) -> str:
    """The declaration of ``entry`` in C++; ``VAR`` is a macro that stands for the data type.

    Pointers that are only read are ``const``; scalars and sizes come by value.
    """
    return f'extern "C" void {entry}({", ".join(c_arguments(problem))});'


def python_signature(problem: Problem) -> str:
    """The first line of the function in Python."""
    return f"def {ENTRY_POINT}({', '.join(p.name for p in problem.parameters)}):"


def c_type(parameter: Parameter) -> str:
    """The type of one element, or of the value, in C; ``VAR`` for the problem's data type."""
    return "VAR" if parameter.type == VARIABLE_TYPE else parameter.type


def c_arguments(problem: Problem) -> list[str]:
    """The parameters as C++ declares them, in order: ``const VAR* matrix_a``, ``size_t m``."""
    return [_c_argument(parameter) for parameter in problem.parameters]


def _c_argument(parameter: Parameter) -> str:
    if parameter.role is not Role.TENSOR:
        return f"{c_type(parameter)} {parameter.name}"
    const = "const " if parameter.direction is Direction.IN else ""
    return f"{const}{c_type(parameter)}* {parameter.name}"
