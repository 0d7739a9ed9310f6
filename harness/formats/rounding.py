"""What an answer may be off where it is rounded to its type: never less than that rounding.

Both the judge and the problem's process use it.
"""

from collections.abc import Iterable, Iterator
from math import nan

import torch
from torch import Tensor

ROUGHER = "reference: off by about its own tolerance, or more"
"""The claim where answers may be off by what the reference itself is, beside the tolerance."""
ROUGH = 0.02
"""Answers that are off by more, as root mean squares, are others: no rounding does that."""
ROOM = 1.5
"""How much more the largest error of many may be with other inputs, or in another order."""

_CHUNK = 1 << 22
"""Elements at a time: temporaries take a few times 32 MiB."""


def pieces(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Flat pieces of tensors of one shape, none of them empty, so that temporaries stay small."""
    flat = [each.reshape(-1) for each in tensors]
    for start in range(0, flat[0].numel(), _CHUNK):
        yield tuple(each[start : start + _CHUNK] for each in flat)


def root_mean_square(tensor: Tensor) -> Tensor:
    """Of a tensor's elements, those that are not finite taken for 0: a tensor of rank 0.

    Of none it is NaN.
    """
    return root_mean_square_of(part for (part,) in pieces(tensor))


def root_mean_square_of(parts: Iterable[Tensor]) -> Tensor:
    """As :func:`root_mean_square`, of a tensor that comes in parts; those are not kept."""
    squares, count = [], 0
    for part in parts:
        size = part.abs()
        squares.append(size.where(size.isfinite(), 0).square().sum())
        count += part.numel()
    return (torch.stack(squares).sum() / count).sqrt() if squares else torch.tensor(nan)


def with_rounding(
    expected: Tensor, off: Tensor, dtype: torch.dtype, *, rounded: bool = False
) -> Tensor:
    """``off``, raised in place so that it never refuses what is right and rounded to ``dtype``.

    ``expected`` (float64 or complex128) is what is right, ``off`` (float64, ≥ 0, dense) what an
    answer may be off before it is rounded: so it may be what any number that near rounds to, which
    without ``off`` is the nearest number of the type, or either of two. Where ``expected`` is
    ``rounded`` to the type itself, what it was rounded from is not known, and an answer may be off
    by ``off`` or by a whole step of the type, whichever is more. Where no finite number is right,
    or within the type, ``off`` stays.
    """
    for right, bound in pieces(expected, off.view(-1)):
        if right.is_complex():
            part = torch.view_as_real(torch.zeros((), dtype=dtype)).dtype
            parts = torch.view_as_real(right)
            more = _more(parts, bound.unsqueeze(-1).expand(parts.shape), part, rounded=rounded)
            bound += more.square().sum(-1).sqrt()
        else:
            bound += _more(right, bound, dtype, rounded=rounded)
    return off


def _more(right: Tensor, off: Tensor, dtype: torch.dtype, *, rounded: bool) -> Tensor:
    """What a rounding of real numbers to ``dtype`` may add to ``off``, at least 0."""
    if rounded:
        error = _step(right, dtype)
    else:
        # Rounding keeps order: what is between the ends rounds to what is between theirs.
        down, up = ((right + by).to(dtype).to(torch.float64) for by in (-off, off))
        error = torch.maximum(down.sub_(right).abs_(), up.sub_(right).abs_())
    return error.sub_(off).clamp_(min=0).nan_to_num_(0.0, 0.0, 0.0)


def _step(numbers: Tensor, dtype: torch.dtype) -> Tensor:
    """How far the next larger number of ``dtype`` is, in size: a subnormal's step at least."""
    kind = torch.finfo(dtype)
    exponent = torch.frexp(numbers).exponent
    step = torch.ldexp(torch.full_like(numbers, kind.eps), exponent - 1)
    return step.where(numbers != 0, 0).clamp_(min=kind.tiny * kind.eps)
