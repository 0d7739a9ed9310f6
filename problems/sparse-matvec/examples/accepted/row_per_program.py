# Triton, a program per row: the simplest there is.
# verdict: accepted

import triton
import triton.language as tl


@triton.jit
def multiply(row_ptr, col_ptr, entry_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(row_ptr + row)
    end = tl.load(row_ptr + row + 1)
    total = tl.zeros((BLOCK,), dtype=y_ptr.dtype.element_ty)
    for start in range(begin, end, BLOCK):
        where = start + tl.arange(0, BLOCK)
        column = tl.load(col_ptr + where, mask=where < end, other=0)
        entry = tl.load(entry_ptr + where, mask=where < end, other=0.0)
        total += entry * tl.load(x_ptr + column)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


def solution(row_ptr, col_idx, entries, x, y, rows, cols, nnz):
    multiply[(rows,)](row_ptr, col_idx, entries, x, y, BLOCK=256)
