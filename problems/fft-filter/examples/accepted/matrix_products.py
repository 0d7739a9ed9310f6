# The definition as it stands: two products with the matrix of roots of unity, sums of n terms.
# verdict: accepted

import math

import torch


def solution(signals, responses, filtered, batch, n):
    j = torch.arange(n, device=signals.device)
    angle = (j[:, None] * j % n).double() * (-2 * math.pi / n)
    roots = torch.complex(angle.cos(), angle.sin()).to(signals.dtype)
    spectrum = (signals @ roots).mul_(responses)
    torch.mm(spectrum, roots.conj().resolve_conj(), out=filtered)
    filtered.div_(n)
