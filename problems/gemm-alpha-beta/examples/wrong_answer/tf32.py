# Triton's default for float32 is TF32, which keeps three digits; the problem asks for seven.
# verdict: wrong_answer
# dtypes: float32

import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, alpha, beta, m, n, k, ld_a, ld_b, ld_c, TILE: tl.constexpr
):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, TILE):
        along = start + tl.arange(0, TILE)[None, :]
        down = start + tl.arange(0, TILE)[:, None]
        a = tl.load(a_ptr + rows * ld_a + along, mask=(rows < m) & (along < k), other=0.0)
        b = tl.load(b_ptr + down * ld_b + columns, mask=(down < k) & (columns < n), other=0.0)
        total = tl.dot(a, b, total)
    inside = (rows < m) & (columns < n)
    where = c_ptr + rows * ld_c + columns
    before = tl.load(where, mask=inside & (beta != 0.0), other=0.0)
    tl.store(where, alpha * total + beta * before, mask=inside)


def solution(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c):
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    kernel[grid](
        matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c, TILE=32
    )
