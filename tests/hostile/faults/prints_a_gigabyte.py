# Is right, and prints a gigabyte.
# threat: floods
# problem: vector-add
# verdict: accepted (what is printed is read and dropped)

import os

_printed = []


def solution(x, y, z, n):
    z.copy_(x + y)
    while len(_printed) < 1024:
        _printed.append(os.write(1, b"x" * (1 << 20)))
