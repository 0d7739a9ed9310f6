# Keeps files in memory by a page of each that it maps and never touches.
# threat: memory bomb
# problem: vector-add
# verdict: memory_limit

import ctypes
import os
import time


def solution(x, y, z, n):
    libc = ctypes.CDLL(None)
    for _ in range(13):
        file = os.memfd_create("mailbox")
        os.posix_fallocate(file, 0, 100 << 20)
        libc.mmap(None, 4096, 1, 1, file, ctypes.c_long(0))
        os.close(file)
    time.sleep(60)
