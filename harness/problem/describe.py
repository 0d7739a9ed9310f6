"""Parameters in words, as declared, for people who write a solution.

Expressions are the author's own text: not safe to print.
"""

from harness.problem.dtypes import DtypeKind
from harness.problem.expressions import SIZEOF_VAR
from harness.problem.model import Declaration, Parameter
from harness.problem.terms import DEFAULT_ALIGNMENT, Direction, Role

_DIRECTIONS = {
    None: "read only",
    Direction.IN: "read only",
    Direction.OUT: "to be written",
    Direction.INOUT: "read and written",
}


def is_complex(problem: Declaration, parameter: Parameter) -> bool:
    """Whether the elements are complex in every data type."""
    return all(parameter.data_type(dtype).kind is DtypeKind.COMPLEX for dtype in problem.dtypes)


def shape_of(parameter: Parameter) -> str:
    """A tensor's shape, ``[m, k]``; empty for numbers, and where none is declared."""
    if parameter.role is not Role.TENSOR or not parameter.shaped:
        return ""
    return f"[{', '.join(str(e) for e in parameter.shape)}]"


def strides_of(parameter: Parameter) -> str:
    """A tensor's strides, ``[ld_a, 1]`` in elements, or that it is dense; empty for numbers."""
    if parameter.role is not Role.TENSOR:
        return ""
    strides = ", ".join(str(e) for e in parameter.strides)
    return f"[{strides}]" if strides else "dense, row-major"


def direction_of(parameter: Parameter) -> str:
    """What a call does with a tensor, ``read only``; empty for numbers."""
    if parameter.role is not Role.TENSOR:
        return ""
    return _DIRECTIONS[parameter.direction] + (
        "; zero before each call" if parameter.zeroed else ""
    )


def alignment_of(parameter: Parameter) -> str:
    """Bytes that a tensor's address is a multiple of, ``256`` or ``sizeof(VAR)``; else empty."""
    if parameter.role is not Role.TENSOR:
        return ""
    return str(DEFAULT_ALIGNMENT if parameter.alignment is None else parameter.alignment)


def range_of(parameter: Parameter) -> str:
    """A size's range, ``1 to 300`` or ``k to k + 16, multiples of 32``; empty for others.

    Of what follows from others what it equals.
    """
    if parameter.equals is not None:
        return f"= {parameter.equals}"
    if parameter.role is not Role.SIZE:
        return ""
    low = parameter.low if parameter.lower is None else parameter.lower
    high = parameter.high if parameter.upper is None else parameter.upper
    words = ", ".join(filter(None, (f"{low} to {high}", parameter.grid.words())))
    if parameter.case_range is None:
        return words
    least, most = parameter.case_range
    return f"{words} (cases: {least} to {most})"


def values_of(parameter: Parameter) -> str:
    """The distribution of a tensor's elements or of a scalar; empty for sizes and outputs."""
    if parameter.role is Role.SIZE or parameter.derived or parameter.direction is Direction.OUT:
        return ""
    drawn = parameter.values
    if parameter.drawn:
        return "made by the problem itself, as its statement says"
    a = f"{drawn.a:g}" if drawn.a_of is None else str(drawn.a_of)
    b = f"{drawn.b:g}" if drawn.b_of is None else str(drawn.b_of)
    if drawn.kind == "uniform":
        words = f"uniform, {a} to {b}"
    else:
        words = f"normal, mean {a}, standard deviation {b}"
    return f"{words}; NaN and infinity, too" if parameter.nonfinite else words


def always_of(parameter: Parameter) -> str:
    """Values that every grade tries: ``1, 2, 15``."""
    return ", ".join(map(number_of, parameter.always))


def number_of(value: float) -> str:
    """A size or scalar of a case: whole numbers in full, others as float32 tells them apart."""
    return str(value) if isinstance(value, int) else f"{value:.9g}"


def alignment_in_words(problem: Declaration, parameter: Parameter) -> str:
    """A tensor's alignment in a clause; says so where it is less than vector loads need."""
    promised = alignment_of(parameter)
    if promised == SIZEOF_VAR:
        return "any multiple of an element's size"
    words = f"a multiple of {promised} bytes"
    if min(parameter.aligned_to(dtype) for dtype in problem.dtypes) < DEFAULT_ALIGNMENT:
        words += " and of no more"
    return words
