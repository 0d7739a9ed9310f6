# Leaves processes that spin, so that the baseline it is compared with gets slow.
# threat: 53, 57
# problem: vector-add
# timed: yes
# verdict: rejected; on cpu: accepted (they stand still while the baseline runs)

import os
import time

for _ in range(4):
    if os.fork() == 0:
        while time.monotonic() > 0:
            pass


def solution(x, y, z, n):
    z.copy_(x + y)
