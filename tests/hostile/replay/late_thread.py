# A thread of its own writes the answers some time after the call.
# threat: 31, 33
# problem: vector-add
# verdict: wrong_answer

import threading
import time


def solution(x, y, z, n):
    def later():
        time.sleep(0.05)
        z.copy_(x + y)

    threading.Thread(target=later).start()
