"""A keyed digest of stretches of memory: what changes in them shows, at the price of reading them.

A row is 4096 bytes, taken as numbers x from −128 to 127. Its digest is x·W in whole numbers, for a
secret matrix W of 4096 × 16 numbers, each evenly from −128 to 127; |x·w| ≤ 2²⁶ fits an int32, so
nothing is rounded. A row that has changed by d ≠ 0 keeps its digest only if d·w = 0 for each of the
16 columns w. At a place where dᵢ ≠ 0 at most one of the 256 values of wᵢ makes it so, whatever the
other weights are: a column misses the change with a probability of at most 2⁻⁸, all 16, which are
independent, of at most 2⁻¹²⁸. That holds for every change, chosen at will by one who does not know
W: a flipped sign, two changes that cancel in a sum. W is drawn anew each time a digest is taken,
and nothing that depends on it leaves the judge but that nothing has changed.

Source: Carter and Wegman, "Universal classes of hash functions", J. Comput. Syst. Sci. 18(2), 1979.
"""

import secrets
from collections.abc import Sequence

import torch
from torch import Tensor

ROW = 4096
"""Bytes of a row; the digest of one takes 64."""
_COLUMNS = 16
MIN_ROWS = 32
"""Stretches of fewer whole rows are kept as they are: a GPU multiplies no fewer than 17."""
_MAX_ROWS = 1 << 18
"""Rows multiplied at a time: 1 GiB."""


class Digest:
    """Notes what ``stretches`` of ``data`` hold, and tells whether they still do.

    Args:
        data: bytes (uint8), of which the first lies at a multiple of :data:`ROW`.
        stretches: the first byte of each, and the first after it.

    The bytes before the first whole row of a stretch, and those after the last, are kept as they
    are. All the memory that it needs for itself is allocated here.
    """

    def __init__(self, data: Tensor, stretches: Sequence[tuple[int, int]]) -> None:
        self._data = data.view(torch.int8)
        self._rows: list[tuple[int, Tensor]] = []
        self._edges: list[tuple[int, int]] = []
        for start, stop in stretches:
            first, last = -(-start // ROW) * ROW, stop // ROW * ROW
            if last - first < MIN_ROWS * ROW:
                first = last = stop
            self._edges += [(at, end) for at, end in ((start, first), (last, stop)) if at < end]
            rows = (last - first) // ROW
            pieces = -(-rows // _MAX_ROWS)
            for piece in range(pieces):  # of nearly the same length, so that none is too short
                at, end = rows * piece // pieces, rows * (piece + 1) // pieces
                made = torch.empty((end - at, _COLUMNS), dtype=torch.int32, device=data.device)
                self._rows.append((first + at * ROW, made))
        self._weights = torch.empty((ROW, _COLUMNS), dtype=torch.int8, device=data.device)
        self._kept = self._data.new_empty(sum(end - at for at, end in self._edges))

    def take(self) -> None:
        """Note what the stretches hold now, with new weights."""
        drawn = bytearray(secrets.token_bytes(self._weights.numel()))
        self._weights.copy_(torch.frombuffer(drawn, dtype=torch.int8).view(ROW, _COLUMNS))
        for at, noted in self._rows:
            torch._int_mm(self._matrix(at, noted), self._weights, out=noted)
        if self._edges:
            torch.cat(self._edge_bytes(), out=self._kept)

    def first_change(self) -> int | None:
        """A place in ``data`` with no change before it and one within :data:`ROW` bytes, or None.

        A change in bytes that are kept as they are is found to the byte.
        """
        changed = [self._changed_rows(at, noted).any() for at, noted in self._rows]
        if self._edges:
            changed.append((torch.cat(self._edge_bytes()) != self._kept).any())
        if not changed or not bool(torch.stack(changed).any()):  # the one wait, nearly always
            return None
        places = [
            at + int(found[0]) * ROW
            for at, noted in self._rows
            if len(found := self._changed_rows(at, noted).nonzero())
        ]
        was = torch.split_with_sizes(self._kept, [end - at for at, end in self._edges])
        places += [
            at + int(found[0])
            for (at, _), now, kept in zip(self._edges, self._edge_bytes(), was, strict=True)
            if len(found := (now != kept).nonzero())
        ]
        return min(places)

    def _edge_bytes(self) -> list[Tensor]:
        return [self._data[at:end] for at, end in self._edges]

    def _changed_rows(self, at: int, noted: Tensor) -> Tensor:
        return (torch._int_mm(self._matrix(at, noted), self._weights) != noted).any(1)

    def _matrix(self, at: int, noted: Tensor) -> Tensor:
        return self._data[at : at + len(noted) * ROW].view(-1, ROW)
