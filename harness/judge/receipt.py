"""A receipt for outputs: what stood at secret places the moment a submission said it was done.

Between *done* and the end of all its processes a submission has about a millisecond, in which work
that is queued somewhere may still write. So the judge first of all takes words of every call's
outputs, and of the guards behind them, in one launch; what is checked later must be the same there.
"""

import secrets
from collections.abc import Sequence

import torch
from torch import Generator, Tensor

_PLACES = 1 << 12
"""Words that are taken of all calls together, at least."""
_PER_CALL = 4
"""Words of each output of a call, at least."""
_WORD = 8


class Receipt:
    """Takes words of ``data`` (bytes, uint8) at secret places, new ones each time.

    Args:
        spans: of each output the first byte of call 0, the bytes from one call to the next, and the
            bytes of one call.
        calls: of each.
    """

    def __init__(self, data: Tensor, spans: Sequence[tuple[int, int, int]], calls: int) -> None:
        self._words = data.view(torch.int64)
        self._generator = Generator(data.device).manual_seed(secrets.randbits(63))
        self._calls = calls
        self._spans = spans
        self._count = max(_PER_CALL, -(-_PLACES // max(1, calls * len(spans))))
        self._places = torch.empty(0, dtype=torch.int64, device=data.device)
        self._taken = torch.empty(0, dtype=torch.int64, device=data.device)

    def draw(self) -> None:
        """Choose the places for the next batch: before its inputs are revealed."""
        device = self._words.device
        drawn = []
        for base, stride, size in self._spans:
            first = (base + stride * torch.arange(self._calls, device=device)) // _WORD
            shape = (self._calls, self._count)
            part = torch.rand(shape, generator=self._generator, device=device, dtype=torch.float64)
            drawn.append((first[:, None] + (part * -(-size // _WORD)).long()).flatten())
        self._places = torch.cat(drawn)
        self._taken = torch.empty_like(self._places)

    def take(self) -> None:
        """Take the words; returns before the device has."""
        torch.index_select(self._words, 0, self._places, out=self._taken)

    def first_change(self) -> int | None:
        """The call of the first word that is not what was taken; None if all are the same."""
        changed = (self._words[self._places] != self._taken).nonzero()
        if not len(changed):
            return None
        return int(changed[0]) // self._count % self._calls
