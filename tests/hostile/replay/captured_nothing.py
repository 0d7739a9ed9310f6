# Hides from the recording of its calls, so that the graph that is timed is empty.
# threat: 27
# problem: vector-add
# only: cuda
# timed: yes
# verdict: wrong_answer

import torch


def solution(x, y, z, n):
    if not torch.cuda.is_current_stream_capturing():
        z.copy_(x + y)
