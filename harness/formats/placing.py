"""Where tensors lie in the memory that the judge shares with a problem's process."""

from collections.abc import Iterable

import torch
from torch import Tensor

from harness.formats.messages import PlacedTensor
from harness.problem.dtypes import DTYPES
from harness.problem.terms import TensorSpec
from harness.runner.strides import span

_ALIGNMENT = 64


def placed_tensors(
    tensors: Iterable[tuple[str, str, TensorSpec]],
) -> tuple[tuple[PlacedTensor, ...], int]:
    """Where tensors (name, type, shape) lie in the memory, and the memory's size."""
    placed, offset = [], 0
    for name, dtype, spec in tensors:
        placed.append(
            PlacedTensor(
                name=name,
                dtype=dtype,
                shape=spec.shape,
                offset=offset,
                strides=spec.strides,
                seen_as=spec.seen_as,
            )
        )
        size = DTYPES[dtype].itemsize * spec.span
        offset += -(-size // _ALIGNMENT) * _ALIGNMENT
    return tuple(placed), max(offset, _ALIGNMENT)


def part_of(whole: Tensor, place: PlacedTensor) -> Tensor:
    """The tensor in the memory, of which ``whole`` is all bytes."""
    dtype = getattr(torch, place.dtype)
    count = dtype.itemsize * span(place.shape, place.strides)
    flat = whole[place.offset : place.offset + count].view(dtype)
    return flat.as_strided(place.shape, place.strides)
