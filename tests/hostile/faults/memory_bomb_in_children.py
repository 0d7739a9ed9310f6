# Takes memory in many processes, each of which has little.
# threat: memory bomb
# problem: vector-add
# verdict: memory_limit

import os
import time


def solution(x, y, z, n):
    for _ in range(16):
        if os.fork() == 0:
            taken = b"x" * (256 << 20)
            time.sleep(60)
            os._exit(len(taken) & 1)
    time.sleep(60)
