"""A tiled product on tensor cores in TileLang, bias and rectifier in its epilogue.

One kernel for all sizes: m, n and k are symbols. Loads are not by TMA, whose descriptors
need rows that start at multiples of 16 bytes: an odd k or n gives none.
"""

# dtypes: float16, bfloat16

import tilelang
import tilelang.language as T

ROWS, COLUMNS, DEPTH = 128, 128, 32


@tilelang.jit
def compiled(dtype):
    m, n, k = T.dynamic("m"), T.dynamic("n"), T.dynamic("k")

    @T.prim_func
    def layer(
        a: T.Tensor((m, k), dtype),
        b: T.Tensor((k, n), dtype),
        bias: T.Tensor((n,), dtype),
        out: T.Tensor((m, n), dtype),
    ):
        with T.Kernel(T.ceildiv(n, COLUMNS), T.ceildiv(m, ROWS), threads=128) as (bx, by):
            tile_a = T.alloc_shared((ROWS, DEPTH), dtype)
            tile_b = T.alloc_shared((DEPTH, COLUMNS), dtype)
            sums = T.alloc_fragment((ROWS, COLUMNS), "float32")
            T.clear(sums)
            for step in T.Pipelined(T.ceildiv(k, DEPTH), num_stages=2):
                T.copy(a[by * ROWS, step * DEPTH], tile_a, disable_tma=True)
                T.copy(b[step * DEPTH, bx * COLUMNS], tile_b, disable_tma=True)
                T.gemm(tile_a, tile_b, sums)
            for i, j in T.Parallel(ROWS, COLUMNS):
                if by * ROWS + i < m and bx * COLUMNS + j < n:
                    out[by * ROWS + i, bx * COLUMNS + j] = T.max(
                        sums[i, j] + T.cast(bias[bx * COLUMNS + j], "float32"), 0.0
                    )

    return layer


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    compiled(str(matrix_a.dtype).removeprefix("torch."))(matrix_a, matrix_b, bias, output_matrix)
