# Fills sockets in many processes; what lies in them belongs to none.
# threat: memory bomb
# problem: vector-add
# verdict: memory_limit

import os
import socket
import time


def fill():
    kept = []
    for _ in range(400):
        one, other = socket.socketpair()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        one.setblocking(False)
        try:
            while True:
                one.send(b"x" * 65536)
        except BlockingIOError:
            kept.append(other)
        one.close()
    time.sleep(60)


def solution(x, y, z, n):
    for _ in range(4):
        if os.fork() == 0:
            fill()
    time.sleep(60)
