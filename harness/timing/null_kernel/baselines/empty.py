"""A kernel that does nothing worth mentioning: it writes one number."""


def solution(x, nanoseconds, y, n):
    y[:1].fill_(1.0)
