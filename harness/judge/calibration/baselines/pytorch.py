"""The calibration kernel: one PyTorch kernel, nothing else."""

import torch


def solution(x, y, n):
    torch.add(x, 1, out=y)
