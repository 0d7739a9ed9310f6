"""Three steps in PyTorch, one after the other, and a copy: ifft writes where it likes."""

import math

import torch


def _forward(rows):
    return torch.fft.fft(rows) if _precise(rows) else _by_products(rows, -1)


def _back(rows):
    return torch.fft.ifft(rows) if _precise(rows) else _by_products(rows, 1).div_(rows.shape[1])


def _precise(rows):
    """Not on a CPU, where MKL loses three digits of complex128 if n has larger prime factors."""
    single = rows.dtype == torch.complex64
    return rows.device.type == "cuda" or single or _largest_factor(rows.shape[1]) <= 13


def _largest_factor(n):
    factor = 2
    while factor * factor <= n:
        if n % factor:
            factor += 1
        else:
            n //= factor
    return n


def _by_products(rows, sign):
    """Products with the matrix of roots of unity."""
    j = torch.arange(rows.shape[1])
    angle = (j[:, None] * j % len(j)).double() * (sign * 2 * math.pi / len(j))
    return rows @ torch.complex(angle.cos(), angle.sin())


def solution(signals, responses, filtered, batch, n):
    spectrum = _forward(signals)
    spectrum.mul_(responses)
    filtered.copy_(_back(spectrum))
