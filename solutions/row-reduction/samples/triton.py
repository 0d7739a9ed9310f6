"""Triton: one program per stretch of a row, and a second kernel that reduces what they leave.

Rows of one stretch need no second kernel: the first then writes the outputs itself.
"""

import torch
import triton
import triton.language as tl

NONE = tl.constexpr(2**31 - 1)  # an index beyond all others


@triton.jit(do_not_specialize=["n", "stretches"])
def reduce_stretches(
    x_ptr,
    sum_ptr,
    top_ptr,
    index_ptr,
    scale,
    n,
    stretches,
    STRETCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0)
    row = (program // stretches).to(tl.int64)  # 64-bit, because row * n can pass 2**31
    begin = program % stretches * STRETCH
    end = min(begin + STRETCH, n)
    x_ptr += row * n

    # For each lane the sum, the largest element and its index; put together after the loop.
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    top = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    index = tl.full((BLOCK,), NONE, dtype=tl.int32)
    for start in range(begin, end, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < end
        # What fills up the last block must not be the largest, and must not count in the sum.
        x = tl.load(x_ptr + columns, mask=inside, other=-float("inf")).to(tl.float32)
        total += tl.where(inside, x, 0.0)
        index = tl.where(x > top, columns, index)  # not >=: of equal elements the first counts
        top = tl.maximum(top, x)

    highest = tl.max(top, axis=0)
    tl.store(sum_ptr + program, tl.sum(total, axis=0) * scale)
    tl.store(top_ptr + program, highest)
    tl.store(index_ptr + program, tl.min(tl.where(top == highest, index, NONE), axis=0))


@triton.jit(do_not_specialize=["stretches"])
def finish(
    sum_ptr,
    top_ptr,
    index_ptr,
    mean_ptr,
    largest_ptr,
    scale,
    stretches,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    top = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    index = tl.full((BLOCK,), NONE, dtype=tl.int32)
    for start in range(0, stretches, BLOCK):
        stretch = start + tl.arange(0, BLOCK)
        inside = stretch < stretches
        where = row * stretches + stretch
        total += tl.load(sum_ptr + where, mask=inside, other=0.0)
        found = tl.load(top_ptr + where, mask=inside, other=-float("inf"))
        at = tl.load(index_ptr + where, mask=inside, other=NONE)
        index = tl.where(found > top, at, index)
        top = tl.maximum(top, found)

    highest = tl.max(top, axis=0)
    tl.store(mean_ptr + row, tl.sum(total, axis=0) * scale)
    tl.store(largest_ptr + row, tl.min(tl.where(top == highest, index, NONE), axis=0))


def solution(input_matrix, scale, row_mean, largest, m, n):
    stretch, block = (16384, 2048) if n > 1024 else (1024, 1024)
    stretches = triton.cdiv(n, stretch)
    tops = torch.empty(m * stretches, dtype=torch.float32, device=row_mean.device)
    sums, indices, factor = row_mean, largest, scale
    if stretches > 1:
        sums, indices = torch.empty_like(tops), torch.empty_like(tops, dtype=torch.int32)
        factor = 1.0
    reduce_stretches[(m * stretches,)](
        input_matrix, sums, tops, indices, factor, n, stretches, STRETCH=stretch, BLOCK=block
    )
    if stretches > 1:
        finish[(m,)](sums, tops, indices, row_mean, largest, scale, stretches, BLOCK=1024)
