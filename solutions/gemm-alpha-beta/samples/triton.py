"""Triton: one program per tile of C.

A tile's addresses come from two vectors, row numbers times the leading dimension and column
numbers; a *mask* says which of them exist. The gaps between rows are never touched. `tl.dot`
multiplies two small blocks, on tensor cores where the data type allows, with float32 sums. What
follows the loop is the epilogue: it reads C only where beta asks for it.
"""

import torch
import triton
import triton.language as tl


# Whether a pointer or a leading dimension happens to be a multiple of 16 is looked at by Triton
# itself, which compiles one variant with wide loads and one without.
@triton.jit(do_not_specialize=["m", "n", "k"])
def gemm(
    a_ptr,
    b_ptr,
    c_ptr,
    alpha,
    beta,
    m,
    n,
    k,
    ld_a,
    ld_b,
    ld_c,
    SUM: tl.constexpr,
    KEEP_C: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    # 64-bit, because row * ld can pass 2**31.
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)[None, :]
    depth = tl.arange(0, DEPTH).to(tl.int64)
    a_tile = a_ptr + rows * ld_a + depth[None, :]
    b_tile = b_ptr + depth[:, None] * ld_b + columns

    total = tl.zeros((ROWS, COLUMNS), dtype=SUM)
    for start in range(0, k, DEPTH):
        left = k - start
        a = tl.load(a_tile, mask=(rows < m) & (depth[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (columns < n), other=0.0)
        # For float32 the default would be TF32, which keeps ten digits of the fraction: too few.
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=SUM)
        a_tile += DEPTH
        b_tile += DEPTH * ld_b

    inside = (rows < m) & (columns < n)
    c_tile = c_ptr + rows * ld_c + columns
    result = alpha * total
    if KEEP_C:  # not beta * C with beta = 0: that is NaN where C holds NaN or infinity
        result += beta * tl.load(c_tile, mask=inside, other=0.0).to(SUM)
    tl.store(c_tile, result.to(c_ptr.dtype.element_ty), mask=inside)


def solution(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c):
    wide = matrix_a.dtype == torch.float64
    tile = 64 if wide or max(m, n) <= 512 else 128
    grid = (triton.cdiv(m, tile), triton.cdiv(n, tile))
    gemm[grid](
        matrix_a,
        matrix_b,
        matrix_c,
        alpha,
        beta,
        m,
        n,
        k,
        ld_a,
        ld_b,
        ld_c,
        SUM=tl.float64 if wide else tl.float32,
        KEEP_C=beta != 0.0,
        ROWS=tile,
        COLUMNS=tile,
        DEPTH=16 if wide else 32,
        num_warps=8 if tile == 128 else 4,
    )
