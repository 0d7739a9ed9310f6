# verdict: accepted
import torch


def custom_kernel(data):
    x, w, counts, weights, last = data
    assert not counts.any() and not weights.any()
    counts.index_add_(0, x, torch.ones_like(x))
    weights.index_add_(0, x, torch.stack([w, 2 * w], 1))
    last.copy_(x & 3)
