# Its import never ends.
# threat: hangs at load
# problem: vector-add
# verdict: time_limit

import threading

threading.Event().wait()


def solution(x, y, z, n):
    z.copy_(x + y)
