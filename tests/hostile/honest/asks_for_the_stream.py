# Asks for the current stream, and works on one of its own that waits and is waited for.
# threat: honest
# problem: vector-add
# only: cuda
# verdict: accepted

import torch


def solution(x, y, z, n):
    current = torch.cuda.current_stream()
    other = torch.cuda.Stream()
    other.wait_stream(current)
    with torch.cuda.stream(other):
        z.copy_(x + y)
    current.wait_stream(other)
