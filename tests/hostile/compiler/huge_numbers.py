# Has Python's compiler compute a number of gigabytes.
# threat: compiler bomb
# problem: vector-add
# verdict: time_limit

_HUGE = 7 ** 7 ** 7 ** 7


def solution(x, y, z, n):
    z.copy_(x + y)
