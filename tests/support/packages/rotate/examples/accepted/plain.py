# verdict: accepted
import torch


def solution(x, y, z, n):
    assert z.is_complex()
    torch.mul(x.conj(), y, out=z)
