# Never returns, and never lets another thread of its process run.
# threat: endless loop
# problem: vector-add
# verdict: time_limit

import sys

sys.setswitchinterval(1e6)


def solution(x, y, z, n):
    while True:
        pass
