# Takes memory in a child whose first thread has ended, so that the child looks dead and empty.
# threat: memory bomb
# problem: vector-add
# verdict: memory_limit

import ctypes
import os
import threading
import time


def hold():
    time.sleep(0.5)
    taken = b"x" * (700 << 20)
    time.sleep(60)
    os._exit(len(taken) & 1)


def solution(x, y, z, n):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        libc = ctypes.CDLL(None)
        libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)
    time.sleep(60)
