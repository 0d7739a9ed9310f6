# Takes most of the card's memory and keeps it, so that others have none.
# threat: 53, 57
# problem: vector-add
# no faster than: honest/plain.py
# only: cuda
# timed: yes
# verdict: accepted (each of the judge's processes has its own already)

import torch

_kept = []


def solution(x, y, z, n):
    if not _kept:
        half = torch.cuda.mem_get_info()[0] // 2
        _kept.append(torch.empty(half, dtype=torch.uint8, device=x.device))
    z.copy_(x + y)
