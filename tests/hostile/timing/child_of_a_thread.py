# Once it is timed, a thread starts a child that outlives each batch.
# threat: 31, 53
# problem: vector-add
# verdict: rejected

import os
import threading
import time

import torch

calls = 0


def _start_a_child():
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)


def solution(x, y, z, n):
    global calls
    calls += 1
    if n >= 1 << 24 and calls % 8 == 0:
        torch.cuda.synchronize()
        threading.Thread(target=_start_a_child).start()
    torch.add(x, y, out=z)
