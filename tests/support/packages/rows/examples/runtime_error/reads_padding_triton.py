# verdict: runtime_error
# says: between the rows of x
# dtypes: float32
# The mask goes to the next row, not to the end of this one.
import triton
import triton.language as tl


@triton.jit
def rows(x, s, y, sums, n, ldx, ldy, last, block: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, block)
    inside = j < n
    new = tl.load(y + row * ldy + j, mask=inside, other=0.0)
    old = tl.load(x + row * ldx + j, mask=(j < ldx) & (inside | (row < last)), other=0.0)
    new += s * tl.where(inside, old, 0.0)
    tl.store(y + row * ldy + j, new, mask=inside)
    tl.store(sums + row, tl.sum(tl.where(inside, new, 0.0)))


def solution(x, s, y, sums, m, n, ldx, ldy):
    rows[(m,)](x, s, y, sums, n, ldx, ldy, m - 1, block=64)
