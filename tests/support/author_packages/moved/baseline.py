"""By torch."""


def solution(x, y, z, m, n, ld):
    y.add_(x)
    z.add_(1)
