"""Estimate the memory that checking one case takes, on the generous side."""

import math
from collections.abc import Iterable

from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.terms import Direction, TensorSpec

CALLS = 2
"""Calls of a correctness case, each with inputs of its own: that shows remembered answers."""

_GUARD_BYTES = 8192  # of one buffer: guard band and alignment, at most
_WIDE_BYTES = 8  # of float64 and int64, in which references compute; a complex number has two
_INPUT_COPIES = 2  # wide ones of each input: the reference's own, and its absolute value
_OUTPUT_COPIES = 5  # wide ones of each output: expected, magnitude, a reference's temporaries
_COMPARED_AT_ONCE = 1 << 23  # elements
_COMPARE_COPIES = 4  # wide temporaries of a comparison


def footprint(tensors: Iterable[TensorSpec]) -> int:
    """Bytes of the device's memory that checking a case with these tensors takes at its peak.

    A reference that builds something larger than its inputs and outputs (all pairs of rows, say)
    needs more than is counted here.
    """
    total = 0
    for tensor in tensors:
        element = DTYPES[tensor.dtype]
        wide = _WIDE_BYTES * (2 if element.kind is DtypeKind.COMPLEX else 1)
        count = math.prod(tensor.shape)
        # In the arena, gaps and guard bands included, and in the judge's private copy of it.
        total += 2 * CALLS * (tensor.span * element.itemsize + _GUARD_BYTES)
        # The reference works on one call at a time; outputs of all calls are copied to be compared.
        if tensor.direction is not Direction.OUT:
            total += _INPUT_COPIES * wide * count
        if tensor.direction is not Direction.IN:
            total += (CALLS * element.itemsize + _OUTPUT_COPIES * wide) * count
            total += _COMPARE_COPIES * wide * min(count, _COMPARED_AT_ONCE)
    return total
