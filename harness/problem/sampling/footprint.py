"""Estimate the memory that checking one case takes, on the generous side."""

import math
from collections.abc import Sequence
from enum import Enum, auto

from harness.problem.case import Case
from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.terms import Direction, TensorSpec

CALLS = 2
"""Calls of a correctness case, each with inputs of its own: that shows remembered answers."""

SLICE = 1 << 28
"""Bytes of a tensor's calls that are drawn, or compared, at a time, unless one call has more."""

_GUARD_BYTES = 8192  # of one buffer: guard band and alignment, at most
_DIGEST_SHARE = 128  # of what is only read, so much less are its digests: then, and now
_DIGEST_EDGES = 2 << 12  # and so much of each such tensor is kept as it is, at most
_WIDE_BYTES = 8  # of float64 and int64, in which references compute; a complex number has two
_INPUT_COPIES = 2  # wide ones of each input: the reference's own, and its absolute value
_DRAWN_COPIES = 2  # wide ones of what an author's function draws: returned, and kept
_OUTPUT_COPIES = 5  # wide ones of each output: expected, magnitude, a reference's temporaries
_HANDED_COPIES = 2  # wide ones of each output: expected and allowed, or as it is handed over
_COMPARED_AT_ONCE = 1 << 23  # elements
_COMPARE_COPIES = 4  # wide temporaries of a comparison
_ROW_COPIES = 4  # wide ones of some rows of an output: made, handed over, kept, and the last ones


class Answers(Enum):
    """Where right answers are computed, and where they lie."""

    HERE = auto()
    """By the judge, on its device."""
    HANDED = auto()
    """By another process, which finds room elsewhere if the device has none; they lie there."""
    STREAMED = auto()
    """By another process; they stay on the host, and come to the device piece by piece."""
    ROWS = auto()
    """By another process, for some rows at a time: those of one piece are there."""


def calls_at_once(case: Case) -> int:
    """How many of a correctness case's calls lie in memory at the same time."""
    return 1 if case.singly else CALLS


def footprint(
    tensors: Sequence[TensorSpec], answers: Answers = Answers.HERE, calls: int = CALLS
) -> int:
    """Bytes of the device's memory that checking a case with these tensors takes at its peak.

    ``calls`` of it lie there at once. The judge's own copy of them (:mod:`harness.judge.own_copy`)
    is not counted: it is taken where there is room beside. A reference that builds something larger
    than its inputs and outputs (all pairs of rows, say) needs more than is counted here. Of one in
    another process only what is handed over is counted: a call's inputs as they are, and its
    outputs.
    """
    arena = sum(calls * _buffer(tensor) for tensor in tensors)
    return arena + sum(_beside(tensor, calls, answers) for tensor in tensors)


def of_others(tensors: Sequence[TensorSpec], answers: Answers) -> int:
    """Bytes that other processes take beside :func:`footprint`, if they have no temporaries.

    A submission those of the outputs that it returns; a reference whose answers are ``HANDED`` over
    those of its inputs in the type in which it computes.
    """
    returned = (_buffer(tensor) for tensor in tensors if tensor.direction is Direction.OUT)
    if answers is not Answers.HANDED:
        return sum(returned)
    read = (tensor for tensor in tensors if tensor.direction is not Direction.OUT)
    return sum(returned) + sum(_wide_bytes(tensor) for tensor in read)


def computed(tensors: Sequence[TensorSpec]) -> int:
    """Bytes of a call's outputs in the type in which references compute."""
    return sum(_wide_bytes(tensor) for tensor in tensors if tensor.direction is not Direction.IN)


def rows_in(tensors: Sequence[TensorSpec], size: int) -> int:
    """How many rows, one at least, take no more than ``size`` bytes where some are computed.

    ``tensors`` are those that are cut into rows, all of them with as many.
    """
    count = min(tensor.shape[0] for tensor in tensors)
    return max(1, min(count, size * count // _whole_rows(tensors)))


def some_rows(tensors: Sequence[TensorSpec], rows: int) -> int:
    """Bytes that so many rows take, handed over as they are and computed in wide types."""
    return -(-rows * _whole_rows(tensors) // min(tensor.shape[0] for tensor in tensors))


def _whole_rows(tensors: Sequence[TensorSpec]) -> int:
    """Bytes that all rows would take."""
    return sum(
        _ROW_COPIES * _wide_bytes(tensor)
        if tensor.direction is Direction.OUT
        else _buffer(tensor) + _wide_bytes(tensor)
        for tensor in tensors
    )


def beside_arena(tensors: Sequence[TensorSpec], calls: int) -> int:
    """Bytes that checking ``calls`` calls takes beside their arena.

    These are digests, a slice, and wide copies of one call.
    """
    return sum(_beside(tensor, calls) for tensor in tensors)


def _buffer(tensor: TensorSpec) -> int:
    """Bytes of one tensor of one call in the arena, gaps and guard band included."""
    return tensor.span * DTYPES[tensor.dtype].itemsize + _GUARD_BYTES


def _beside(tensor: TensorSpec, calls: int, answers: Answers = Answers.HERE) -> int:
    wide, count = _wide(tensor), math.prod(tensor.shape)
    compared = min(count, _COMPARED_AT_ONCE)
    arena = calls * _buffer(tensor)
    total = 0
    if answers is Answers.HERE:
        total += _input_copies(tensor)
    elif answers is Answers.HANDED and tensor.direction is not Direction.OUT:
        total += _buffer(tensor)
    if tensor.direction is Direction.IN:
        total += arena // _DIGEST_SHARE + min(arena, _DIGEST_EDGES)
    if tensor.direction is Direction.INOUT or tensor.span > count:  # drawn, or made dense, again
        total += min(arena, max(_buffer(tensor), SLICE))
    if tensor.direction is not Direction.IN:
        whole = _OUTPUT_COPIES if answers is Answers.HERE else _HANDED_COPIES
        in_pieces = answers in (Answers.STREAMED, Answers.ROWS)
        total += whole * wide * (compared if in_pieces else count)
        total += _COMPARE_COPIES * wide * compared
    return total


def _input_copies(tensor: TensorSpec) -> int:
    """Bytes of what is made of one call's input: as it is drawn, and for the reference."""
    copies = _DRAWN_COPIES if tensor.together else 0
    copies += _INPUT_COPIES if tensor.direction is not Direction.OUT else 0
    return copies * _wide_bytes(tensor)


def _wide_bytes(tensor: TensorSpec) -> int:
    """Bytes of a tensor in the type in which references compute."""
    return _wide(tensor) * math.prod(tensor.shape)


def _wide(tensor: TensorSpec) -> int:
    """Bytes of an element in the type in which references compute."""
    return _WIDE_BYTES * (2 if DTYPES[tensor.dtype].kind is DtypeKind.COMPLEX else 1)
