# Counts in a tensor of its own, which nobody sets to zero again: the second call has the first
# one's counts, too.
# verdict: wrong_answer

import torch

_counts = {}


def solution(values, histogram, n, num_bins):
    counts = _counts.setdefault(num_bins, torch.zeros_like(histogram, dtype=torch.int64))
    counts += torch.bincount(values, minlength=num_bins)
    histogram.copy_(counts)
