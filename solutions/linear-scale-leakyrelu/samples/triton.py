"""Triton: one program per tile of the output, everything after the product fused into it.

W is stored as (out_features, in_features). Its tiles are loaded as if they were transposed, by
exchanging the two strides: no copy of W is made.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["batch", "out_features", "in_features"])
def linear_scale_leakyrelu(
    x_ptr,
    weight_ptr,
    bias_ptr,
    o_ptr,
    scale,
    slope,
    batch,
    out_features,
    in_features,
    ALIGNED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    # Two variants instead of one for every mix of sizes: rows that start at multiples of 16
    # elements can be loaded in wide words.
    if ALIGNED:
        out_features = out_features // 16 * 16
        in_features = in_features // 16 * 16
    # 64-bit, because row * in_features can pass 2**31.
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    depth = tl.arange(0, DEPTH).to(tl.int64)
    a_tile = x_ptr + rows[:, None] * in_features + depth[None, :]
    b_tile = weight_ptr + columns[None, :] * in_features + depth[:, None]  # read transposed

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, in_features, DEPTH):
        left = in_features - start
        a = tl.load(a_tile, mask=(rows[:, None] < batch) & (depth[None, :] < left), other=0.0)
        b = tl.load(
            b_tile, mask=(depth[:, None] < left) & (columns[None, :] < out_features), other=0.0
        )
        # For float32 the default would be TF32, which the problem does not allow.
        total = tl.dot(a, b, total, input_precision="ieee")
        a_tile += DEPTH
        b_tile += DEPTH

    bias = tl.load(bias_ptr + columns, mask=columns < out_features, other=0.0).to(tl.float32)
    z = (total + bias[None, :]) * scale
    result = tl.where(z >= 0, z, slope * z)
    inside = (rows[:, None] < batch) & (columns[None, :] < out_features)
    where = rows[:, None] * out_features + columns[None, :]
    tl.store(o_ptr + where, result.to(o_ptr.dtype.element_ty), mask=inside)


def solution(matrix_x, weight, bias, scale, slope, output_matrix, batch, in_features, out_features):
    # Large tiles reuse each loaded number more, small ones keep all of the card busy.
    tile = 128 if min(batch, out_features) > 512 else 64
    grid = (triton.cdiv(batch, tile), triton.cdiv(out_features, tile))
    linear_scale_leakyrelu[grid](
        matrix_x,
        weight,
        bias,
        output_matrix,
        scale,
        slope,
        batch,
        out_features,
        in_features,
        ALIGNED=out_features % 16 == 0 and in_features % 16 == 0,
        ROWS=tile,
        COLUMNS=tile,
        DEPTH=32,
        num_warps=8 if tile == 128 else 4,
    )
