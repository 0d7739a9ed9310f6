"""Triton, split-K: one program per tile of the output and part of k, then one to add the parts up.

The output is too small to keep a card busy, so k is shared out as well. The parts meet in a float32
workspace, without atomics: the order of every sum is the same in every run.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "n", "k", "part"])
def multiply_part(
    a_ptr,
    b_ptr,
    partial_ptr,
    m,
    n,
    k,
    part,
    ALIGNED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    # Two variants instead of one for every mix of sizes: rows that start at multiples of 16
    # elements can be loaded in wide words.
    if ALIGNED:
        n = n // 16 * 16
        k = k // 16 * 16
    # 64-bit, because row * k can pass 2**31.
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    begin = tl.program_id(2).to(tl.int64) * part
    end = tl.minimum(begin + part, k)  # the last part may be shorter
    depth = begin + tl.arange(0, DEPTH)
    a_tile = a_ptr + rows[:, None] * k + depth[None, :]
    b_tile = b_ptr + depth[:, None] * n + columns[None, :]

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, part, DEPTH):
        left = end - start
        a = tl.load(a_tile, mask=(rows[:, None] < m) & (depth[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (columns[None, :] < n), other=0.0)
        # For float32 the default would be TF32, which the problem does not allow.
        total = tl.dot(a, b, total, input_precision="ieee")
        a_tile += DEPTH
        b_tile += DEPTH * n

    inside = (rows[:, None] < m) & (columns[None, :] < n)
    where = (tl.program_id(2).to(tl.int64) * m + rows[:, None]) * n + columns[None, :]
    tl.store(partial_ptr + where, total, mask=inside)


@triton.jit(do_not_specialize=["count", "parts"])
def add_parts(partial_ptr, o_ptr, count, parts, BLOCK: tl.constexpr):
    where = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for p in range(0, parts):
        total += tl.load(partial_ptr + p * count + where, mask=where < count, other=0.0)
    tl.store(o_ptr + where, total.to(o_ptr.dtype.element_ty), mask=where < count)


_PROGRAMS = 264  # wanted: two for each multiprocessor of a large card
_PART = 512  # terms that a part should have at least


def solution(matrix_a, matrix_b, output_matrix, m, n, k):
    # No larger tile than the output, but then a deeper one, so that loads stay large.
    rows, columns = (max(16, min(64, triton.next_power_of_2(size))) for size in (m, n))
    depth = 256 if rows * columns == 256 else 64
    down, across = triton.cdiv(m, rows), triton.cdiv(n, columns)
    parts = max(1, min(_PROGRAMS // (down * across), triton.cdiv(k, _PART)))
    part = triton.cdiv(triton.cdiv(k, parts), depth) * depth
    parts = triton.cdiv(k, part)
    partial = torch.empty((parts, m, n), dtype=torch.float32, device=matrix_a.device)
    multiply_part[(down, across, parts)](
        matrix_a,
        matrix_b,
        partial,
        m,
        n,
        k,
        part,
        ALIGNED=n % 16 == 0 and k % 16 == 0,
        ROWS=rows,
        COLUMNS=columns,
        DEPTH=depth,
        num_warps=4,
    )
    add_parts[(triton.cdiv(m * n, 256),)](partial, output_matrix, m * n, parts, BLOCK=256)
