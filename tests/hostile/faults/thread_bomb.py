# Starts threads as long as it can.
# threat: fork bomb
# problem: vector-add
# verdict: runtime_error

import threading

_never = threading.Event()


def solution(x, y, z, n):
    for _ in range(5000):
        threading.Thread(target=_never.wait, daemon=True).start()
    z.copy_(x + y)
