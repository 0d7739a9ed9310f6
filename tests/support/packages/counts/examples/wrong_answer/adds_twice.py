# verdict: wrong_answer
# says: elements of counts are wrong
import torch


def solution(x, w, counts, weights, last, n, bins):
    for _ in range(2):
        counts.index_add_(0, x, torch.ones_like(x))
    weights.index_add_(0, x, torch.stack([w, 2 * w], 1))
    last.copy_(x & 3)
