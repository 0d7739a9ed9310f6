"""Right answers that are too large to have them whole: numbers that come piece by piece.

From the host's memory to a device, or from a reference that is asked for some rows at a time. What
each may be off is computed there, when a piece is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from harness.formats.rounding import pieces
from harness.problem.terms import Expectation, Streamed, Stretch


class Numbers(Protocol):
    """All numbers of an output, in wide types: flat parts in row-major order, made in each pass.

    None is empty, and numbers of one output that are had in one way come in the same parts.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""

    def __iter__(self) -> Iterator[Tensor]:
        """The parts, one after the other; who goes on lets go of the last."""


@dataclass(frozen=True, slots=True)
class Held:
    """Numbers that lie in memory, and come to a device part by part."""

    whole: Tensor
    device: torch.device

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""
        return tuple(self.whole.shape)

    def __iter__(self) -> Iterator[Tensor]:
        """Parts of bounded size, so that temporaries stay small."""
        for (part,) in pieces(self.whole):
            yield part.to(self.device)


@dataclass(frozen=True, slots=True)
class ByRows:
    """Numbers that a reference computes for some rows at a time."""

    shape: tuple[int, ...]
    at_once: int
    ask: Callable[[slice], Tensor]
    """Some rows, on the device where they are compared."""

    def __iter__(self) -> Iterator[Tensor]:
        """Parts of bounded size of some rows, then of the next."""
        count = self.shape[0]
        for start in range(0, count, self.at_once):
            rows = slice(start, min(start + self.at_once, count))
            for (part,) in pieces(self.ask(rows)):
                yield part


@dataclass(frozen=True, slots=True)
class Around:
    """What is right around numbers: ``Pieces`` of a :class:`~harness.problem.terms.Streamed`."""

    numbers: Sequence[Numbers]
    """The right ones, then others that what is allowed follows from."""
    allow: Callable[..., Tensor]
    """What each of a flat part may be off, from a part of each of the numbers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""
        return self.numbers[0].shape

    def __iter__(self) -> Iterator[Stretch]:
        """All of it, in row-major order, without gaps."""
        start = 0
        for parts in zip(*self.numbers, strict=True):
            yield Stretch(start, parts[0], self.allow(*parts))
            start += parts[0].numel()


@dataclass(frozen=True, slots=True)
class Expected:
    """The right numbers of an expectation, as :class:`Numbers`."""

    known: Expectation

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""
        return self.known.shape

    def __iter__(self) -> Iterator[Tensor]:
        """Parts as they come; of numbers that are had whole, as of :class:`Held`."""
        if isinstance(self.known, Streamed) and isinstance(self.known.pieces, Around):
            yield from self.known.pieces.numbers[0]
        else:
            yield from (part for part, _ in bounded(self.known))


def bounded(known: Expectation) -> Iterator[tuple[Tensor, Tensor]]:
    """What is right and what it may be off, in flat parts of bounded size."""
    for stretch in known.stretches():
        yield from ((right, off) for right, off in pieces(stretch.expected, stretch.allowed))
