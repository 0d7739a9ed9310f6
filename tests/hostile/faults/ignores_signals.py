# Ignores every signal that can be ignored, and never returns.
# threat: deaf
# problem: vector-add
# verdict: time_limit

import contextlib
import signal
import time

for _number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(_number, signal.SIG_IGN)


def solution(x, y, z, n):
    while True:
        time.sleep(1)
