def solution(counts, a, total, parity, m, n):
    total += a.T
    parity.copy_(counts % 2)
