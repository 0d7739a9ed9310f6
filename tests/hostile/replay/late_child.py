# A child writes the answers into the shared memory some time after the call.
# threat: 31, 33
# problem: vector-add
# verdict: wrong_answer

import os
import time


def solution(x, y, z, n):
    if os.fork() == 0:
        try:
            time.sleep(0.05)
            z.copy_(x + y)
        finally:
            os._exit(0)
