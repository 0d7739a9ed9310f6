"""One library call, which is one kernel: there is nothing to fuse."""

import torch


def solution(x, y, z, n):
    torch.add(x, y, out=z)
