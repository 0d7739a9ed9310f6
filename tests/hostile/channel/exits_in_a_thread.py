# Ends its process with success some time after a call has returned.
# threat: 9
# problem: vector-add
# verdict: runtime_error

import os
import threading
import time


def _end():
    time.sleep(0.001)
    os._exit(0)


def solution(x, y, z, n):
    z.copy_(x + y)
    threading.Thread(target=_end).start()
    time.sleep(1)
