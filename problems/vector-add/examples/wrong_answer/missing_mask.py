# The last block is stored whole: it goes on beyond the end.
# verdict: wrong_answer; on cpu: runtime_error (the access is noticed as such)

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    where = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + where, mask=where < n, other=0)
    y = tl.load(y_ptr + where, mask=where < n, other=0)
    tl.store(z_ptr + where, x + y)


def solution(x, y, z, n):
    add[(triton.cdiv(n, 1024),)](x, y, z, n, BLOCK=1024)
