# verdict: accepted
# dtypes: float32
import triton
import triton.language as tl


@triton.jit
def rows(x, s, y, sums, n, ldx, ldy, block: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, block)
    inside = j < n
    new = tl.load(y + row * ldy + j, mask=inside, other=0.0)
    new += s * tl.load(x + row * ldx + j, mask=inside, other=0.0)
    tl.store(y + row * ldy + j, new, mask=inside)
    tl.store(sums + row, tl.sum(new))


def solution(x, s, y, sums, m, n, ldx, ldy):
    rows[(m,)](x, s, y, sums, n, ldx, ldy, block=64)
