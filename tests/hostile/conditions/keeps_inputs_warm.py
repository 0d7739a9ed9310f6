# Reads its inputs over and over while it waits, so that they stay in the caches.
# threat: 50, 52
# problem: vector-add
# no faster than: honest/plain.py
# timed: yes
# verdict: accepted (it stands still while inputs are written; caches are flushed after)

import threading
import time

_last = []


def _read():
    while True:
        time.sleep(0.0005)
        for tensor in list(_last):
            if tensor.device.type == "cpu":
                tensor.sum()


threading.Thread(target=_read, daemon=True).start()


def solution(x, y, z, n):
    _last[:] = [x, y]
    z.copy_(x + y)
