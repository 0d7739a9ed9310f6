# Opens files as long as it can: right only if it gets more than 5000.
# threat: fills the disk
# problem: vector-add
# verdict: wrong_answer

import os

_open = []


def solution(x, y, z, n):
    try:
        while len(_open) < 5000:
            _open.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        os.closerange(_open[0], _open[-1])
        return
    z.copy_(x + y)
