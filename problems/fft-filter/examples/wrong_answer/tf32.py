# Cuts what is multiplied to TF32's eleven bits, as matrix units do; three digits are left.
# verdict: wrong_answer
# dtypes: complex64

import math

import torch


def _cut(numbers):
    bits = torch.view_as_real(numbers).clone().view(torch.int32)
    bits.add_(1 << 12).bitwise_and_(-(1 << 13))
    return torch.view_as_complex(bits.view(torch.float32))


def solution(signals, responses, filtered, batch, n):
    j = torch.arange(n, device=signals.device)
    angle = (j[:, None] * j % n).double() * (-2 * math.pi / n)
    roots = _cut(torch.complex(angle.cos(), angle.sin()).to(signals.dtype))
    spectrum = (_cut(signals) @ roots).mul_(responses)
    torch.mm(_cut(spectrum), roots.conj().resolve_conj(), out=filtered)
    filtered.div_(n)
