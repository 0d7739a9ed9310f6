"""PyTorch, compiled: the output is an argument, so the sum is written where it belongs.

`dynamic=True` compiles once for all sizes, but Inductor lays out its blocks for those it sees first:
after a vector of a few elements a block has a few threads for ever. So the first one is long.
"""

import functools

import torch

LONG = 1 << 20


@torch.compile(dynamic=True)
def add(x, y, z):
    z.copy_(x + y)


@functools.cache
def compile_for(dtype, device):
    add(*(torch.zeros(LONG, dtype=dtype, device=device) for _ in range(3)))


def solution(x, y, z, n):
    compile_for(x.dtype, x.device)
    add(x, y, z)
