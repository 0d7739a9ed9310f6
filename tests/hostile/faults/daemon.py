# Leaves a process in a session of its own behind, whose parents are gone.
# threat: daemon
# problem: vector-add
# verdict: accepted (it is ended with the rest)

import ctypes
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"hostile-daemon", 0, 0, 0)
        while True:
            time.sleep(1)
    os._exit(0)


def solution(x, y, z, n):
    z.copy_(x + y)
