"""Integers and booleans, drawn evenly between bounds."""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from harness.problem.dtypes import DTYPES
from harness.problem.model import Parameter
from harness.problem.sampling import pieces
from harness.problem.sums import whole_bounds


def bounds(kind: torch.dtype, parameter: Parameter) -> tuple[int, int]:
    """The lowest and highest number to draw, within what the type holds."""
    low, high = whole_bounds(DTYPES[str(kind).removeprefix("torch.")], parameter.values)
    if kind is torch.bool:
        return low, high
    limits = torch.iinfo(kind)
    # random_ takes an upper end that is excluded, and must itself be an int64.
    top = min(limits.max, torch.iinfo(torch.int64).max - 1)
    return min(max(low, limits.min), top), min(max(high, limits.min), top)


def fill_whole(out: Tensor, parameter: Parameter, generator: Generator, family: str) -> None:
    """Fill with integers or booleans, evenly between bounds that the family narrows.

    ``large`` takes the bounds themselves, ``tiny`` −1 … 1, ``integers`` −3 … 3, ``uniform`` nothing
    below 0; ``zeros`` keeps one in eight, ``mixed`` shifts values right by a few bits.
    """
    low, high = bounds(out.dtype, parameter)
    nearest = min(max(0, low), high)  # to zero

    def within(bottom: int, top: int) -> tuple[int, int]:
        ends = max(low, bottom), min(high, top)
        return ends if ends[0] <= ends[1] else (nearest, nearest)

    ends = {"uniform": within(0, high), "tiny": within(-1, 1), "integers": within(-3, 3)}
    bottom, top = ends.get(family, (low, high))
    for part in pieces.chunks(out):
        part.random_(bottom, top + 1, generator=generator)
        if family == "large":
            part.copy_(torch.where(integers(part.shape, 0, 1, generator) == 1, high, low))
        elif family == "zeros":
            kept = integers(part.shape, 0, 7, generator) == 0
            part.copy_(torch.where(kept, part.to(torch.int64), nearest))
        elif family == "mixed":
            # Shifted right, a negative number ends at −1: clamped, if that is out of bounds.
            shifted = part.to(torch.int64) >> integers(part.shape, 0, 8, generator)
            part.copy_(shifted.clamp_(low, high))


def integers(
    shape: Sequence[int], low: int, high: int, generator: Generator, kind: torch.dtype = torch.int64
) -> Tensor:
    """Draw integers ``low`` … ``high``, evenly, on the generator's device."""
    out = torch.empty(shape, dtype=kind, device=generator.device)
    return out.random_(low, high + 1, generator=generator)


def signs(shape: Sequence[int], generator: Generator, kind: torch.dtype = torch.float64) -> Tensor:
    """Draw −1 and 1, evenly, on the generator's device."""
    return integers(shape, 0, 1, generator, kind).mul_(2).sub_(1)
