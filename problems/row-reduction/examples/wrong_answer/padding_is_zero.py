# Fills up the last block with zeros: right for the sum, wrong for the largest of negative numbers.
# verdict: wrong_answer

import triton
import triton.language as tl


@triton.jit
def reduce(x_ptr, mean_ptr, largest_ptr, scale, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    top = -float("inf")
    index = 0
    for start in range(0, n, BLOCK):
        columns = start + lanes
        x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0).to(tl.float32)
        total += x
        highest = tl.max(x, axis=0)
        first = tl.min(tl.where(x == highest, columns, n), axis=0)
        index = tl.where(highest > top, first, index)
        top = tl.maximum(top, highest)
    tl.store(mean_ptr + row, tl.sum(total, axis=0) * scale)
    tl.store(largest_ptr + row, index)


def solution(input_matrix, scale, row_mean, largest, m, n):
    reduce[(m,)](input_matrix, row_mean, largest, scale, n, BLOCK=1024)
