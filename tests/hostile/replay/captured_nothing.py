# Hides from the recording of its calls, so that the recorded graph is empty: that gives wrong
# outputs, and so it is timed as plain calls, all of which do the work.
# threat: 27
# problem: vector-add
# no faster than: honest/plain.py
# only: cuda
# timed: yes
# verdict: accepted

import torch


def solution(x, y, z, n):
    if not torch.cuda.is_current_stream_capturing():
        z.copy_(x + y)
