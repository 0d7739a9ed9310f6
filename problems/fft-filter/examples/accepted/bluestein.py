# Bluestein's algorithm: a transform of any length by three of a power of two, with more roundings.
# verdict: accepted

import math

import torch


def _transform(rows, sign):
    n = rows.shape[1]
    length = 1 << (2 * n - 1).bit_length()
    j = torch.arange(n, device=rows.device)
    angle = (j * j % (2 * n)).double() * (sign * math.pi / n)
    chirp = torch.complex(angle.cos(), angle.sin()).to(rows.dtype)
    kernel = torch.zeros(length, dtype=rows.dtype, device=rows.device)
    kernel[:n] = chirp.conj()
    kernel[length - n + 1 :] = chirp[1:].flip(0).conj()
    spectrum = torch.fft.fft(rows * chirp, n=length).mul_(torch.fft.fft(kernel))
    return torch.fft.ifft(spectrum)[:, :n] * chirp


def solution(signals, responses, filtered, batch, n):
    torch.div(_transform(_transform(signals, -1.0) * responses, 1.0), n, out=filtered)
