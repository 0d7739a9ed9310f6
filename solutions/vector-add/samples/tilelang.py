"""A tile of 1024 elements per block in TileLang, compiled once for vectors of any length."""

# dtypes: float32, float16, bfloat16, int32

import tilelang
import tilelang.language as T

TILE = 1024


@tilelang.jit
def compiled(dtype):
    n = T.dynamic("n")

    @T.prim_func
    def add(x: T.Tensor((n,), dtype), y: T.Tensor((n,), dtype), z: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, TILE), threads=256) as block:
            for i in T.Parallel(TILE):
                z[block * TILE + i] = x[block * TILE + i] + y[block * TILE + i]

    return add


def solution(x, y, z, n):
    compiled(str(x.dtype).removeprefix("torch."))(x, y, z)
