# Triton without masks at the edges: it reads and writes what lies beyond.
# verdict: wrong_answer; on cpu: runtime_error (the access is noticed as such)

import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, o_ptr, alpha, m, n, k, TILE: tl.constexpr, DEPTH: tl.constexpr
):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        along = start + depth[None, :]
        down = start + depth[:, None]
        a = tl.load(a_ptr + rows * k + along)
        b = tl.load(b_ptr + down * n + columns)
        total = tl.dot(a, b, total, input_precision="ieee")
    where = rows * n + columns
    product = total * tl.load(c_ptr + where).to(tl.float32)
    result = tl.where(product >= 0, product, alpha * product)
    tl.store(o_ptr + where, result.to(o_ptr.dtype.element_ty))


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    kernel[grid](
        matrix_a, matrix_b, matrix_c, output_matrix, alpha, m, n, k, TILE=64, DEPTH=32
    )
