# verdict: wrong_answer
# says: wrote between the rows of weights
import torch


def solution(x, w, counts, weights, last, n, bins):
    counts.index_add_(0, x, torch.ones_like(x))
    weights.index_add_(0, x, torch.stack([w, 2 * w], 1))
    weights.as_strided((3 * bins - 1,), (1,))[2::3] = 0
    last.copy_(x & 3)
