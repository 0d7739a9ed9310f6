"""Sum many terms in the order and with the accumulator of a given machine.

Terms lie along the first dimension: (length, …) → (…). What an accumulator of float32 or float64
would do is done by torch in that very type; lesser ones are imitated in float64 with a rounding
after each addition.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from harness.verify.arithmetic.rounding import FLOAT32, FLOAT64, Format, rounded, truncated

MAX_STEPS = 2048
"""Additions one after the other that torch is asked for; longer chains go elsewhere."""

_MAX_ROUNDED = 512
"""The same where each is followed by a rounding. Longer sums are formed in several lanes, as a
block of threads would."""

_MIN_COLUMNS = 256
"""Sums side by side from which on a GPU forms long ones faster than one core: a thread each."""


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
        native = not self.truncates and self.format in (FLOAT32, FLOAT64)
        return self.format.element if native else None

    def round(self, x: Tensor) -> Tensor:
        """Float64 numbers as the accumulator holds them."""
        return (truncated if self.truncates else rounded)(x, self.format)

    def add(self, total: Tensor, term: Tensor) -> Tensor:
        """One addition; both in :attr:`native`, or in float64 holding what the format can."""
        return total + term if self.native else self.round(total + term)

    def block(self, length: int) -> int:
        """Terms that are added up by themselves before they are added to the total."""
        return BLOCK if self.order is Order.BLOCKED else -(-length // PARTS)


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
        terms = how.round(terms)
    else:  # the first group is rounded when it comes to the zero that a sum starts from
        terms = torch.cat([how.add(terms[:1], torch.zeros_like(terms[:1])), terms[1:]])
    return _ordered(terms, how).to(torch.float64)


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
        block = how.block(length)
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
    return torch.stack(list(accumulate(terms, how.add)))


def _ordered(terms: Tensor, how: Accumulator) -> Tensor:
    """(length, …) → (…), in the accumulator's order and its native type (float64 for none)."""
    match how.order:
        case Order.REVERSED:
            terms = terms.flip(0)
        case Order.PAIRWISE:
            # Half to half, not neighbour to neighbour: the same tree over another order of the
            # terms, and without strided copies.
            while len(terms) > 1:
                half = len(terms) // 2
                pairs = how.add(terms[:half], terms[half : 2 * half])
                terms = torch.cat([pairs, terms[2 * half :]])
        case Order.SPLIT | Order.BLOCKED:
            blocks = _grouped(terms, how.block(len(terms)))
            terms = _sequential(blocks.transpose(0, 1), how)
    return _sequential(terms, how)


def _sequential(terms: Tensor, how: Accumulator) -> Tensor:
    if how.native is not None and (terms.is_cuda or len(terms) > MAX_STEPS):
        return _accumulate(terms)[-1]
    if how.native is None and len(terms) > _MAX_ROUNDED:
        lanes = _grouped(terms, _MAX_ROUNDED).transpose(0, 1)
        return _sequential(_sequential(lanes, how), how)
    found: Tensor = reduce(how.add, terms)
    return found


def _grouped(terms: Tensor, size: int) -> Tensor:
    """(length, …) → (groups, size, …), the last group filled up with zeros."""
    missing = -len(terms) % size
    if missing:
        terms = torch.cat([terms, terms.new_zeros((missing, *terms.shape[1:]))])
    return terms.view(-1, size, *terms.shape[1:])


def _accumulate(terms: Tensor) -> Tensor:
    """All partial sums in order, in the terms' own type.

    On a GPU torch's ``cumsum`` has one thread go through each column, in that type, unless there is
    a single column. numpy's ``add.accumulate`` is such a loop on the CPU, where ``cumsum`` keeps
    the sum of float32 numbers in float64.
    """
    columns = terms[0].numel()
    if terms.is_cuda and (len(terms) <= MAX_STEPS or columns >= _MIN_COLUMNS):
        side_by_side = terms.reshape(-1, columns).expand(-1, max(columns, 2))
        return torch.cumsum(side_by_side, 0)[:, :columns].reshape(terms.shape)
    with np.errstate(all="ignore"):
        sums = np.add.accumulate(terms.movedim(0, -1).contiguous().cpu().numpy(), axis=-1)
    return torch.from_numpy(sums).to(terms.device).movedim(-1, 0)
