"""Whether stretches of memory are what they were, at the price of reading them twice.

No copy is kept, but a digest under secret keys (:mod:`harness.device.digest`). A change in a row is
missed with a probability of at most 2⁻⁶⁴, whatever it is, by one who does not know the keys: a
flipped sign, two changes that cancel in a sum. They are drawn anew each time a digest is taken, and
nothing that depends on them leaves the judge but that nothing has changed.
"""

import secrets
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from harness.device.digest import KEYS, ROW, digest_by_torch


class Digest:
    """Notes what ``stretches`` of ``data`` hold, and tells whether they still do.

    Args:
        data: bytes (uint8), of which the first lies at a multiple of :data:`ROW`.
        stretches: the first byte of each, and the first after it.
        rows: writes digests as :func:`~harness.device.digest.digest_by_torch` does.

    The bytes before the first whole row of a stretch, and those after the last, are kept as they
    are. All the memory that it needs for itself is allocated here.
    """

    def __init__(
        self,
        data: Tensor,
        stretches: Sequence[tuple[int, int]],
        rows: Callable[[Tensor, Tensor, Tensor], None] = digest_by_torch,
    ) -> None:
        self._data = data
        self._digests = rows
        self._rows: list[tuple[Tensor, int]] = []
        """All whole rows of a stretch, and the place of the first."""
        self._edges: list[tuple[int, int]] = []
        for start, stop in stretches:
            first, last = -(-start // ROW) * ROW, stop // ROW * ROW
            if last <= first:
                first = last = stop
            else:
                self._rows.append((data[first:last].view(-1, ROW), first))
            self._edges += [(at, end) for at, end in ((start, first), (last, stop)) if at < end]
        count = sum(len(rows) for rows, _ in self._rows)
        self._noted, self._now = torch.empty(
            (2, count, len(KEYS)), dtype=torch.int64, device=data.device
        )
        self._keys = torch.empty(KEYS, dtype=torch.int32, device=data.device)
        self._kept = data.new_empty(sum(end - at for at, end in self._edges))

    def take(self) -> None:
        """Note what the stretches hold now, with new keys."""
        drawn = bytearray(secrets.token_bytes(4 * self._keys.numel()))
        self._keys.copy_(torch.frombuffer(drawn, dtype=torch.int32).view_as(self._keys))
        self._compute(self._noted)
        if self._edges:
            torch.cat(self._edge_bytes(), out=self._kept)

    def first_change(self) -> int | None:
        """A place in ``data`` with no change before it and one within :data:`ROW` bytes, or None.

        A change in bytes that are kept as they are is found to the byte.
        """
        self._compute(self._now)
        changed = [(self._now != self._noted).any()]
        if self._edges:
            changed.append((torch.cat(self._edge_bytes()) != self._kept).any())
        if not bool(torch.stack(changed).any()):  # the one wait, nearly always
            return None
        lengths = [len(rows) for rows, _ in self._rows]
        other = torch.split((self._now != self._noted).any(1), lengths)
        places = [
            at + int(found[0]) * ROW
            for (_, at), here in zip(self._rows, other, strict=True)
            if len(found := here.nonzero())
        ]
        was = torch.split_with_sizes(self._kept, [end - at for at, end in self._edges])
        places += [
            at + int(found[0])
            for (at, _), now, kept in zip(self._edges, self._edge_bytes(), was, strict=True)
            if len(found := (now != kept).nonzero())
        ]
        return min(places)

    def _compute(self, into: Tensor) -> None:
        """Write the digests of all rows, one stretch after the other."""
        done = 0
        for rows, _ in self._rows:
            self._digests(rows, self._keys, into[done : done + len(rows)])
            done += len(rows)

    def _edge_bytes(self) -> list[Tensor]:
        return [self._data[at:end] for at, end in self._edges]
