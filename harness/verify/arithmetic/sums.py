"""Sum many terms in the order and with the accumulator of a given machine.

Terms lie along the first dimension: (length, …) → (…). What an accumulator of float32 or float64
would do is done by torch in that very type; lesser ones are imitated in float64 with a rounding
after each addition.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from torch import Tensor

from harness.verify.arithmetic.rounding import FLOAT32, FLOAT64, Format, rounded, truncated

MAX_STEPS = 2048
"""Additions one after the other that torch is asked for; longer chains go elsewhere."""

_MAX_ROUNDED = 512
"""The same where each is followed by a rounding. Longer sums are formed in several lanes, as a
block of threads would."""


class Order(StrEnum):
    """In which order terms are added."""

    SEQUENTIAL = "sequential"
    REVERSED = "reversed"
    PAIRWISE = "pairwise"
    SPLIT = "split"
    BLOCKED = "blocked"


PARTS = 8
"""Partial sums of :attr:`Order.SPLIT`: contiguous parts, each summed in order, then added up."""

BLOCK = 16
"""Terms that :attr:`Order.BLOCKED` adds up before it adds them to the total."""


@dataclass(frozen=True, slots=True)
class Accumulator:
    """Format of a running sum, and how terms are added to it.

    ``step`` terms are added exactly before each rounding, as matrix units do; ``truncates`` cuts
    off instead of rounding.
    """

    format: Format = FLOAT64
    order: Order = Order.SEQUENTIAL
    step: int = 1
    truncates: bool = False

    @property
    def native(self) -> torch.dtype | None:
        """The type in which torch itself can add as this accumulator does."""
        if self.truncates or self.format not in (FLOAT32, FLOAT64):
            return None
        return self.format.element

    def add(self, total: Tensor, term: Tensor) -> Tensor:
        """One addition; both in :attr:`native`, or in float64 holding what the format can."""
        if self.native is not None:
            return total + term
        return (truncated if self.truncates else rounded)(total + term, self.format)


EXACTLY = Accumulator()
"""In float64, as the reference sums."""


def total(terms: Tensor, how: Accumulator) -> Tensor:
    """The sum over the first dimension, (length, …) → (…); float64 (complex128) both."""
    if terms.is_complex():
        parts = torch.view_as_real(terms)
        return torch.view_as_complex(total(parts, how).contiguous())
    if terms.shape[0] == 0 or terms.numel() == 0:
        return terms.sum(0)
    if how.step > 1:  # float64 holds such a group's sum without error that matters
        terms = _grouped(terms, how.step).sum(1)
    if how.native is not None:
        terms = terms.to(how.native)
    elif how.step == 1:
        terms = (truncated if how.truncates else rounded)(terms, how.format)
    else:  # the first group is rounded when it comes to the zero that a sum starts from
        terms = torch.cat([how.add(terms[:1], torch.zeros_like(terms[:1])), terms[1:]])
    return _ORDERS[how.order](terms, how).to(torch.float64)


def running(terms: Tensor, how: Accumulator) -> Tensor:
    """Prefix sums of 1, 2, 3 … terms, (length, …) → (length, …); float64 both."""
    if terms.is_complex():
        return torch.view_as_complex(running(torch.view_as_real(terms), how).contiguous())
    if terms.numel() == 0:
        return terms
    length = terms.shape[0]
    if how.native is not None:
        terms = terms.to(how.native)
        if how.order in (Order.SEQUENTIAL, Order.REVERSED):
            return _accumulate(terms).to(torch.float64)
        block = BLOCK if how.order is Order.BLOCKED else -(-length // PARTS)
    else:
        terms = rounded(terms, how.format)
        block = min(length, _MAX_ROUNDED)
    # Each block from its own start, then the totals of the blocks before it are added.
    blocks = _grouped(terms, block)
    inside = _scan(blocks.transpose(0, 1), how).transpose(0, 1)
    before = _scan(inside[:, -1], how).roll(1, 0)
    before[0] = 0
    return how.add(inside, before.unsqueeze(1)).flatten(0, 1)[:length].to(torch.float64)


def _scan(terms: Tensor, how: Accumulator) -> Tensor:
    rows = [terms[0]]
    for term in terms[1:]:
        rows.append(how.add(rows[-1], term))
    return torch.stack(rows)


def _sequential(terms: Tensor, how: Accumulator) -> Tensor:
    length = terms.shape[0]
    if how.native is not None and length > MAX_STEPS:
        return _accumulate(terms)[-1]
    if how.native is None and length > _MAX_ROUNDED:
        lanes = _grouped(terms, _MAX_ROUNDED).transpose(0, 1)
        return _sequential(_sequential(lanes, how), how)
    sum_, *rest = terms.unbind()
    for term in rest:
        sum_ = how.add(sum_, term)
    return sum_


def _reversed(terms: Tensor, how: Accumulator) -> Tensor:
    return _sequential(terms.flip(0), how)


def _pairwise(terms: Tensor, how: Accumulator) -> Tensor:
    # Half to half, not neighbour to neighbour: the same tree over another order of the terms, and
    # without strided copies.
    while terms.shape[0] > 1:
        half = terms.shape[0] // 2
        rest = terms[2 * half :]
        terms = torch.cat([how.add(terms[:half], terms[half : 2 * half]), rest])
    return terms[0]


def _split(terms: Tensor, how: Accumulator) -> Tensor:
    parts = _grouped(terms, -(-terms.shape[0] // PARTS)).transpose(0, 1)
    return _sequential(_sequential(parts, how), how)


def _blocked(terms: Tensor, how: Accumulator) -> Tensor:
    blocks = _grouped(terms, BLOCK).transpose(0, 1)
    return _sequential(_sequential(blocks, how), how)


_ORDERS: dict[Order, Callable[[Tensor, Accumulator], Tensor]] = {
    Order.SEQUENTIAL: _sequential,
    Order.REVERSED: _reversed,
    Order.PAIRWISE: _pairwise,
    Order.SPLIT: _split,
    Order.BLOCKED: _blocked,
}


def _grouped(terms: Tensor, size: int) -> Tensor:
    """(length, …) → (groups, size, …), the last group filled up with zeros."""
    length = terms.shape[0]
    groups = -(-length // size)
    if groups * size > length:
        filling = terms.new_zeros((groups * size - length, *terms.shape[1:]))
        terms = torch.cat([terms, filling])
    return terms.view(groups, size, *terms.shape[1:])


def _accumulate(terms: Tensor) -> Tensor:
    """All partial sums in order, in the terms' own type.

    numpy's ``add.accumulate`` is a loop in that type; torch's ``cumsum`` keeps the sum of float32
    numbers in float64 on a CPU, and sums in another order on a GPU.
    """
    with np.errstate(all="ignore"):
        sums = np.add.accumulate(terms.movedim(0, -1).contiguous().cpu().numpy(), axis=-1)
    return torch.from_numpy(sums).to(terms.device).movedim(-1, 0)
