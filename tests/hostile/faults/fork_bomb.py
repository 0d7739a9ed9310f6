# Starts processes that start processes, as long as it can.
# threat: fork bomb
# problem: vector-add
# verdict: memory_limit (of all of them together)

import os
import time


def solution(x, y, z, n):
    if os.getppid() > 2:  # elsewhere it would be the machine's trouble
        return
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)
