"""What the right answer is, and how matrices are drawn. The judge calls this with wide tensors."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

_EVEN = ("constant", "integers")
"""Families of values in which all rows are about equally long, and entries stand side by side."""

_AT_ONCE = 1 << 22
"""Entries, filled up to whole rows, that are gathered at a time: 32 MiB in float64."""


def draw(
    generator: Generator, family: str, rows: int, cols: int, nnz: int, longest: int
) -> dict[str, Tensor]:
    """The structure of a matrix of ``nnz`` entries, ``longest`` of them in the longest row.

    Whole numbers alone, so that every machine draws the same.
    """
    lengths = _lengths(generator, family, rows, nnz, longest)
    # From one entry to the next it is up to so many columns that the row has room for all of them.
    widest = torch.ones_like(lengths) if family in _EVEN else cols // lengths.clamp_min(1)
    steps = torch.randint(2**30, (nnz,), generator=generator)
    steps *= torch.repeat_interleave(widest, lengths)
    steps >>= 30
    steps += 1
    row_ptr, places = _from_zero(lengths), _from_zero(steps)
    begin, end = places[row_ptr[:-1]], places[row_ptr[1:]]
    first = torch.randint(2**40, (rows,), generator=generator) % (cols - (end - begin) + 1)
    # One row begins in the first column and another ends in the last: few would by themselves.
    some = torch.randint(nnz, (2,), generator=generator)
    left, right = (torch.searchsorted(row_ptr, some, right=True) - 1).tolist()
    if left != right:
        first[left] = 1 - steps[row_ptr[left]]
        first[right] = cols - (end - begin)[right]
    col_idx = places[1:] + torch.repeat_interleave(first - begin - 1, lengths)
    return {"row_ptr": row_ptr, "col_idx": col_idx}


def _from_zero(steps: Tensor) -> Tensor:
    """0, and the sums of the first, the first two, … of ``steps``: (n + 1,) int64."""
    sums = torch.zeros(len(steps) + 1, dtype=torch.int64)
    torch.cumsum(steps, 0, out=sums[1:])
    return sums


def _lengths(generator: Generator, family: str, rows: int, nnz: int, longest: int) -> Tensor:
    """Entries of each row, (rows,) int64: ``nnz`` together, ``longest`` in a row that is drawn."""
    # The k-th longest row is wanted about 1/k as long as the longest, and one in four empty.
    weights = 2**12 // torch.randint(1, 2**12, (rows,), generator=generator)
    weights *= torch.randint(4, (rows,), generator=generator) > 0
    if family in _EVEN:
        weights = torch.ones_like(weights)
    elif family == "rows":
        weights = torch.sort(weights, descending=True).values
    lengths = torch.zeros_like(weights)
    lengths[torch.randint(rows, (1,), generator=generator)] = longest
    while left := nnz - int(lengths.sum()):
        room = longest - lengths
        wanted = weights * (room > 0)
        if not wanted.any():  # all are full but those that were to be empty
            wanted = (room > 0).to(torch.int64)
        # What is left is shared out to the last entry; what a row has no room for is left again.
        upto = torch.cumsum(wanted, 0) * left // wanted.sum()
        lengths += torch.minimum(torch.diff(upto, prepend=upto.new_zeros(1)), room)
    return lengths


def reference(
    row_ptr: Tensor,
    col_idx: Tensor,
    entries: Tensor,
    x: Tensor,
    rows: int,
    cols: int,
    nnz: int,
    longest: int,
) -> Tensor:
    """Sum of each row's products with the elements of ``x`` in its columns, (rows,)."""
    return _row_sums(entries * x[col_idx], row_ptr)


def magnitude(
    row_ptr: Tensor,
    col_idx: Tensor,
    entries: Tensor,
    x: Tensor,
    rows: int,
    cols: int,
    nnz: int,
    longest: int,
) -> Tensor:
    """What was summed, without signs: |A|·|x|."""
    return _row_sums(entries.abs() * x[col_idx].abs(), row_ptr)


def _row_sums(terms: Tensor, row_ptr: Tensor) -> Tensor:
    """Sums of the terms of each row, (nnz,) → (rows,)."""
    begin, end = row_ptr[:-1], row_ptr[1:]
    sums = torch.zeros_like(begin, dtype=terms.dtype)
    for some, width in _alike(end - begin):
        # Rows of about one length, filled up with zeros in front: (some, width).
        where = end[some].unsqueeze(1) + torch.arange(-width, 0, device=terms.device)
        inside = where >= begin[some].unsqueeze(1)
        sums[some] = torch.sum(torch.where(inside, terms[where.clamp_min(0)], 0.0), dim=1)
    return sums


def _alike(lengths: Tensor) -> Iterator[tuple[Tensor, int]]:
    """Rows more than half as long as the longest of them, with its length; no empty ones."""
    left = int(lengths.max())
    while left > 0:
        rows = torch.nonzero((lengths > left // 2) & (lengths <= left)).squeeze(1)
        for some in torch.split(rows, max(1, _AT_ONCE // left)):
            yield some, left
        shorter = lengths[lengths <= left // 2]
        left = int(shorter.max()) if len(shorter) else 0
