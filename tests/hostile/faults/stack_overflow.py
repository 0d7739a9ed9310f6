# Calls itself until its stack is full, with Python's own limit out of the way.
# threat: stack overflow
# problem: vector-add
# verdict: runtime_error

import sys

sys.setrecursionlimit(1 << 30)


class _Deep:
    def __repr__(self):
        return repr([self, self])


def solution(x, y, z, n):
    repr(_Deep())
