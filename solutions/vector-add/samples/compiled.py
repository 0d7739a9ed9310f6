"""PyTorch, compiled: the output is an argument, so the sum is written where it belongs."""

import torch


@torch.compile(dynamic=True)
def add(x, y, z):
    z.copy_(x + y)


def solution(x, y, z, n):
    add(x, y, z)
