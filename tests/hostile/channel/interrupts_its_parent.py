# Sends its parent the signal that Python answers with an exception: if it could, it ends with it.
# threat: 10
# problem: vector-add
# or: runtime_error
# verdict: wrong_answer (where the judge is root its parent is another user's)

import contextlib
import os
import signal
import time


def solution(x, y, z, n):
    if os.getppid() == 1:  # elsewhere it would be somebody's
        with contextlib.suppress(OSError):
            os.kill(1, signal.SIGINT)
    time.sleep(0.2)
