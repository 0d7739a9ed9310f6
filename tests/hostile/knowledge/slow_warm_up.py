# Is slow at first, so that fewer calls are thought to be enough.
# threat: 17, 65
# problem: vector-add
# no faster than: honest/plain.py
# timed: yes
# verdict: accepted (how many calls there are follows from later ones, and each is checked)

import time

_first = []


def solution(x, y, z, n):
    if not _first:
        _first.append(True)
        time.sleep(0.4)
    z.copy_(x + y)
