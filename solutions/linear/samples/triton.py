"""Triton: one program per tile of the output, with the bias fused into it.

The batch is treated as one tall matrix: many small members fill the tiles as well as one large.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["height", "n", "k"])
def linear(
    x_ptr,
    weight_ptr,
    bias_ptr,
    o_ptr,
    height,
    n,
    k,
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
    depth = tl.arange(0, DEPTH).to(tl.int64)
    a_tile = x_ptr + rows[:, None] * k + depth[None, :]
    b_tile = weight_ptr + depth[:, None] * n + columns[None, :]

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        left = k - start
        a = tl.load(a_tile, mask=(rows[:, None] < height) & (depth[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (columns[None, :] < n), other=0.0)
        # For float32 the default would be TF32, which the problem does not allow.
        total = tl.dot(a, b, total, input_precision="ieee")
        a_tile += DEPTH
        b_tile += DEPTH * n

    bias = tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
    result = total + bias[None, :]
    inside = (rows[:, None] < height) & (columns[None, :] < n)
    where = rows[:, None] * n + columns[None, :]
    tl.store(o_ptr + where, result.to(o_ptr.dtype.element_ty), mask=inside)


def solution(matrix_x, weight, bias, output_matrix, batch, m, n, k):
    height = batch * m  # one tall matrix
    # Large tiles reuse each loaded number more, small ones keep all of the card busy.
    tile = 128 if min(height, n) > 512 else 64
    grid = (triton.cdiv(height, tile), triton.cdiv(n, tile))
    linear[grid](
        matrix_x,
        weight,
        bias,
        output_matrix,
        height,
        n,
        k,
        ALIGNED=n % 16 == 0 and k % 16 == 0,
        ROWS=tile,
        COLUMNS=tile,
        DEPTH=32,
        num_warps=8 if tile == 128 else 4,
    )
