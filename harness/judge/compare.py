"""Compare an output with what was expected: every element, on the device it is on.

An element is right when

- expected is finite and |got − expected| ≤ allowed, or
- expected, give or take what is allowed, is too large for the output's type and got is infinity of
  the same sign, or
- expected is infinite and got is the same infinity, or
- expected is NaN (which only NaN in the inputs can bring) and got is NaN.

Everything else is wrong; above all NaN where a number was expected.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.result import Element, Mismatch

CHUNK = 1 << 23
"""Elements looked at together, in float64: 64 MiB for each temporary, of which there are few."""


def compare(parameter_name: str, got: Tensor, expected: Tensor, allowed: Tensor) -> Mismatch | None:
    """None if every element of ``got`` is right, else how many are not, the first and the worst.

    ``got`` is in the output's type; ``expected`` (float64; int64 for integers) and ``allowed``
    (float64) have its shape and device. “First” is in row-major order; “worst” has the greatest
    error relative to what is allowed (a NaN, and an infinity that was not expected, are worse than
    any number). The device is waited for once if all is right.

    Raises:
        ValueError: shapes or devices differ, or the numbers are complex.
    """
    if got.is_complex():
        raise ValueError(f"{parameter_name}: complex numbers cannot be compared yet")
    for tensor in (expected, allowed):
        if tensor.shape != got.shape or tensor.device != got.device:
            raise ValueError(
                f"{parameter_name}: {tuple(got.shape)} on {got.device} cannot be compared with "
                f"{tuple(tensor.shape)} on {tensor.device}"
            )
    with torch.inference_mode():
        chunks = list(_chunks(got, expected, allowed))
        counts = [chunk.wrong().count_nonzero() for chunk in chunks]
        differing = int(torch.stack(counts).sum().item()) if counts else 0
        if differing == 0:
            return None
        first, worst = _extremes(chunks)
    return Mismatch(
        parameter=parameter_name,
        differing=differing,
        total=got.numel(),
        first=_element(got, expected, allowed, first),
        worst=_element(got, expected, allowed, worst),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """A flat stretch of the three tensors, views of them."""

    start: int
    got: Tensor
    expected: Tensor
    allowed: Tensor

    def wrong(self) -> Tensor:
        """Bool, flat: which elements are wrong."""
        if not self.got.dtype.is_floating_point:
            return self.got.to(self.expected.dtype) != self.expected
        error = (self.got.to(torch.float64) - self.expected).abs_()
        # NaN compares false: whatever is not surely right is wrong. An allowance that is not
        # finite allows nothing.
        bounded = self.allowed.isfinite()
        right = (error <= self.allowed) & bounded
        del error
        overflows = self.expected.abs().add_(self.allowed) > torch.finfo(self.got.dtype).max
        overflows &= bounded
        overflows |= self.expected.isinf()
        same_sign = self.got.signbit() == self.expected.signbit()
        right |= self.got.isinf() & overflows & same_sign
        right |= self.got.isnan() & self.expected.isnan()
        return right.logical_not_()

    def badness(self, wrong: Tensor) -> Tensor:
        """Float64, flat: error over allowance where ``wrong``, −1 elsewhere."""
        error = (self.got.to(torch.float64) - self.expected).abs_()
        ratio = error.div_(self.allowed.clamp(min=torch.finfo(torch.float64).tiny))
        return ratio.nan_to_num_(nan=math.inf).masked_fill_(wrong.logical_not(), -1.0)


def _chunks(got: Tensor, expected: Tensor, allowed: Tensor) -> Iterator[_Chunk]:
    flat = [tensor.reshape(-1) for tensor in (got, expected, allowed)]
    for start in range(0, got.numel(), CHUNK):
        a, b, c = (tensor[start : start + CHUNK] for tensor in flat)
        yield _Chunk(start=start, got=a, expected=b, allowed=c)


def _extremes(chunks: list[_Chunk]) -> tuple[int, int]:
    """Flat indices of the first wrong element and of the worst."""
    first, worst, most = -1, -1, -1.0
    for chunk in chunks:
        wrong = chunk.wrong()
        if not bool(wrong.any()):
            continue
        if first < 0:
            first = chunk.start + int(wrong.to(torch.uint8).argmax().item())
        badness = chunk.badness(wrong)
        here = int(badness.argmax().item())
        if float(badness[here].item()) > most:
            most, worst = float(badness[here].item()), chunk.start + here
    return first, worst


def _element(got: Tensor, expected: Tensor, allowed: Tensor, flat: int) -> Element:
    index: list[int] = []
    rest = flat
    for length in reversed(got.shape):
        rest, here = divmod(rest, length)
        index.append(here)
    at = tuple(reversed(index))
    return Element(
        index=at,
        expected=float(expected[at].item()),
        got=float(got[at].item()),
        allowed=float(allowed[at].item()),
    )
