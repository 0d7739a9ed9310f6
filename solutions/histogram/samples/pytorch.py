"""PyTorch without a copy: a one for each number, added in place to the counter it belongs to."""

import torch


def solution(values, histogram, n, num_bins):
    # One number, repeated without memory of its own.
    one = torch.ones(1, dtype=torch.int32, device=values.device).expand(n)
    histogram.scatter_add_(0, values.long(), one)  # indices must have 64 bits
