# Aborts.
# threat: abort
# problem: vector-add
# verdict: runtime_error

import os


def solution(x, y, z, n):
    os.abort()
