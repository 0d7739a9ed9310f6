# Sends files in memory through sockets that nobody reads, and closes its own ends of them.
# threat: memory bomb
# problem: vector-add
# verdict: memory_limit

import os
import socket
import time

KEPT = []


def solution(x, y, z, n):
    for _ in range(13):
        one, other = socket.socketpair()
        file = os.memfd_create("arena")
        os.posix_fallocate(file, 0, 100 << 20)
        socket.send_fds(one, [b"x"], [file])
        os.close(file)
        KEPT.append((one, other))
    time.sleep(60)
