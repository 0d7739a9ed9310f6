# verdict: accepted
def solution(x, s, y, sums, m, n, ldx, ldy):
    assert x.stride() == (ldx, 1) and y.stride() == (ldy, 1)
    y += s * x
    sums.copy_(y.double().sum(1))
