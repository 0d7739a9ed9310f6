# verdict: wrong_answer
# says: elements of sums are wrong
def solution(x, s, y, sums, m, n, ldx, ldy):
    y += s * x
