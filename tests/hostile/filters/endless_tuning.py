# Tunes itself for ever before the first call.
# threat: 65
# problem: vector-add
# verdict: time_limit

import time

import torch

while time.monotonic() > 0:
    torch.ones(64, 64) @ torch.ones(64, 64)


def solution(x, y, z, n):
    z.copy_(x + y)
