# Enlarges pipes and fills them; stops if it may not.
# threat: memory bomb
# problem: vector-add
# verdict: runtime_error

import fcntl
import os

KEPT = []


def solution(x, y, z, n):
    for _ in range(400):
        read, write = os.pipe()
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 20)
        os.write(write, b"x" * (1 << 20))
        KEPT.append(read)
