# verdict: accepted
import torch


def solution(mask, x, total, odd, n):
    assert mask.dtype is torch.bool and odd.dtype is torch.bool
    total += torch.where(mask, x, 0)
    odd.copy_(total & 1)
