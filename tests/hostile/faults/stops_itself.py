# Stops its own process.
# threat: stopped
# problem: vector-add
# verdict: time_limit

import os
import signal


def solution(x, y, z, n):
    os.kill(os.getpid(), signal.SIGSTOP)
