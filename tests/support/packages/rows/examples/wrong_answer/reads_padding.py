# verdict: wrong_answer
# says: elements of sums are wrong
# What lies between the rows is multiplied with zero, which does not make it disappear.
import torch


def solution(x, s, y, sums, m, n, ldx, ldy):
    y += s * x
    sums.copy_(y.double().sum(1))
    wide = y.as_strided((m - 1, ldy), (ldy, 1)).double()
    keep = (torch.arange(ldy) < n).double()
    sums[: m - 1] = (wide * keep).sum(1).to(sums.dtype)
