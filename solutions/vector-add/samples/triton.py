"""Triton: one program per block of elements, with a mask for the last one.

Triton looks at the addresses that it is given, compiles a variant for vectors that start at
multiples of 16 bytes, and loads in wide words there and only there.
"""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    # 64-bit, because n can pass 2**31.
    where = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = where < n
    x = tl.load(x_ptr + where, mask=inside)
    y = tl.load(y_ptr + where, mask=inside)
    tl.store(z_ptr + where, x + y, mask=inside)


def solution(x, y, z, n):
    add[(triton.cdiv(n, 2048),)](x, y, z, n, BLOCK=2048)
