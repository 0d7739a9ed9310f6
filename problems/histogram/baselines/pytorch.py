"""PyTorch's own: counts in 64 bits, which are copied into the 32 of the result."""

import torch


def solution(values, histogram, n, num_bins):
    histogram.copy_(torch.bincount(values, minlength=num_bins))
