# verdict: wrong_answer
# says: wrote between the rows of y
def solution(x, s, y, sums, m, n, ldx, ldy):
    y += s * x
    sums.copy_(y.double().sum(1))
    gaps = y.as_strided((m - 1, ldy - n), (ldy, 1), y.storage_offset() + n)
    gaps.zero_()
