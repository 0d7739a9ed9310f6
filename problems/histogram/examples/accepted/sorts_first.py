# Sorts the numbers, and looks up where each bin begins: no two additions ever meet.
# verdict: accepted

import torch


def solution(values, histogram, n, num_bins):
    edges = torch.arange(num_bins + 1, dtype=values.dtype, device=values.device)
    begins = torch.searchsorted(torch.sort(values).values, edges)
    histogram.copy_(torch.diff(begins))
