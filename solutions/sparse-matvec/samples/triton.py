"""Triton: a program per tile of rows, which walks along all of them at once.

The tile moves on until its longest row ends: lanes of rows that have ended are masked. Rows that are
too long for that are left to programs that each take a stretch of all entries, and add what it has
of such rows.
"""

import triton
import triton.language as tl

LONG = 1024  # entries


@triton.jit(do_not_specialize=["rows"])
def short_rows(
    row_ptr,
    col_ptr,
    entry_ptr,
    x_ptr,
    y_ptr,
    rows,
    LONG: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    begin = tl.load(row_ptr + row, mask=inside, other=0)
    end = tl.load(row_ptr + row + 1, mask=inside, other=0)
    length = end - begin
    length = tl.where(length > LONG, 0, length)  # those get 0, to be added to
    lanes = tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), dtype=y_ptr.dtype.element_ty)
    for start in range(0, tl.max(length, axis=0), WIDTH):
        there = (start + lanes)[None, :] < length[:, None]
        where = begin[:, None] + start + lanes[None, :]
        column = tl.load(col_ptr + where, mask=there, other=0)
        entry = tl.load(entry_ptr + where, mask=there, other=0.0)
        # What is masked must not be multiplied by an element of x: it need not be there.
        total += entry * tl.load(x_ptr + column, mask=there, other=0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=1), mask=inside)


@triton.jit
def row_of(row_ptr, rows, entry):
    """The row of an entry: the last one that begins at it or before."""
    row = 0
    after = rows
    while after - row > 1:
        middle = (row + after) // 2
        earlier = tl.load(row_ptr + middle) <= entry
        row = tl.where(earlier, middle, row)
        after = tl.where(earlier, after, middle)
    return row


@triton.jit
def add_part(
    row_ptr,
    col_ptr,
    entry_ptr,
    x_ptr,
    y_ptr,
    row,
    first,
    stop,
    LONG: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Add the entries of a long row that are from `first` up to `stop`."""
    begin = tl.load(row_ptr + row)
    end = tl.load(row_ptr + row + 1)
    if end - begin > LONG:
        stop = tl.minimum(stop, end)
        total = tl.zeros((BLOCK,), dtype=y_ptr.dtype.element_ty)
        for at in range(tl.maximum(first, begin), stop, BLOCK):
            where = at + tl.arange(0, BLOCK)
            there = where < stop
            column = tl.load(col_ptr + where, mask=there, other=0)
            entry = tl.load(entry_ptr + where, mask=there, other=0.0)
            total += entry * tl.load(x_ptr + column, mask=there, other=0.0)
        tl.atomic_add(y_ptr + row, tl.sum(total, axis=0))


@triton.jit(do_not_specialize=["rows", "nnz"])
def long_rows(
    row_ptr,
    col_ptr,
    entry_ptr,
    x_ptr,
    y_ptr,
    rows,
    nnz,
    LONG: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # A stretch of LONG entries has parts of two longer rows at most: its first and its last row.
    first = tl.program_id(0) * LONG
    stop = tl.minimum(first + LONG, nnz)
    row = row_of(row_ptr, rows, first)
    add_part(row_ptr, col_ptr, entry_ptr, x_ptr, y_ptr, row, first, stop, LONG, BLOCK)
    other = row_of(row_ptr, rows, stop - 1)
    if other != row:
        add_part(row_ptr, col_ptr, entry_ptr, x_ptr, y_ptr, other, first, stop, LONG, BLOCK)


def solution(row_ptr, col_idx, entries, x, y, rows, cols, nnz):
    few = nnz <= 16 * rows  # entries of a row, on average
    tile, width = (64, 16) if few else (16, 64)
    arrays = row_ptr, col_idx, entries, x, y
    short_rows[(triton.cdiv(rows, tile),)](*arrays, rows, LONG=LONG, ROWS=tile, WIDTH=width)
    if nnz > LONG:
        long_rows[(triton.cdiv(nnz, LONG),)](*arrays, rows, nnz, LONG=LONG, BLOCK=LONG)
