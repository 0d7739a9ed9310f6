# Its end never ends: what is to be done at exit waits for ever.
# threat: hangs at exit
# problem: vector-add
# verdict: time_limit

import atexit
import sys
import threading

atexit.register(threading.Event().wait)


def solution(x, y, z, n):
    atexit._run_exitfuncs()
    sys.exit(0)
