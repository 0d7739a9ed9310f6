"""Estimate the memory that checking one case takes, on the generous side."""

import math

from harness.problem.case import Case
from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.gradable import Direction, Gradable

CALLS = 2
"""Calls of a correctness case, each with inputs and buffers of its own: that shows remembered
answers."""

GUARD_BYTES = 8192
"""Guard band and alignment of one buffer, at most."""

WIDE_BYTES = 8
"""Float64 and int64, in which references compute; a complex number has two."""

INPUT_COPIES = 2
"""Wide copies of each input at the same time: the reference's own, and its absolute value."""

OUTPUT_COPIES = 5
"""Wide copies of each output at the same time: expected, magnitude, and a reference's temporaries.
"""

COMPARED_AT_ONCE = 1 << 23
"""Elements compared at a time: temporaries are for no more, whatever the output's size."""

COMPARE_COPIES = 4
"""Wide temporaries of a comparison."""


def footprint(problem: Gradable, case: Case, dtype: str) -> int:
    """Bytes of the device's memory that checking ``case`` takes at its peak.

    - the arena: :data:`CALLS` buffers of every tensor in its own type, gaps and guard bands
      included, and a private copy of all that;
    - a copy of the outputs of all calls;
    - the reference for one call at a time: :data:`INPUT_COPIES` wide copies of every input and
      :data:`OUTPUT_COPIES` of every output;
    - :data:`COMPARE_COPIES` wide temporaries of at most :data:`COMPARED_AT_ONCE` elements.

    A reference that builds something larger than its inputs and outputs (all pairs of rows, say)
    needs more than is counted here.

    Raises:
        ExpressionError: a shape has no value for this case.
    """
    total = 0
    for tensor in problem.tensors_of(case, dtype):
        element = DTYPES[tensor.dtype]
        wide = WIDE_BYTES * (2 if element.kind is DtypeKind.COMPLEX else 1)
        count = math.prod(tensor.shape)
        # In the arena and in the judge's private copy of it.
        total += 2 * CALLS * (tensor.span * element.itemsize + GUARD_BYTES)
        if tensor.direction is not Direction.OUT:
            total += INPUT_COPIES * wide * count
        if tensor.direction is not Direction.IN:
            total += (CALLS * element.itemsize + OUTPUT_COPIES * wide) * count
            total += COMPARE_COPIES * wide * min(count, COMPARED_AT_ONCE)
    return total
