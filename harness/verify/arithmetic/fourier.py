"""Compute discrete Fourier transforms in an accumulator's arithmetic.

Even lengths are halved (Cooley and Tukey, *An algorithm for the machine calculation of complex
Fourier series*, Math. Comp. 19, 1965), each stage rounding what it multiplies and adds; what is
left is multiplied by the matrix of the transform. Roots of unity are exact but for one rounding.
"""

import math

import torch
from torch import Tensor

from harness.verify.arithmetic.operations import Operation
from harness.verify.arithmetic.rounding import rounded
from harness.verify.arithmetic.sums import Accumulator, total

_MAX_ODD = 128
"""Longest odd factor that is transformed by its matrix; beyond it torch does it in float64."""


def transform(
    func: Operation, x: Tensor, dims: list[int], scaling: int, last: int, *, how: Accumulator
) -> Tensor:
    """The result of ``aten._fft_c2c``, ``_fft_r2c`` or ``_fft_c2r`` with these arguments.

    ``scaling`` is torch's: 0 for none, 1 for one over the root of the length, 2 for one over the
    length. ``last`` differs: c2c whether forward, r2c whether one-sided, c2r the length of the last
    dimension. More than one dimension is done one after the other.
    """
    name = func.overloadpacket.__name__
    to_real = name == "_fft_c2r"
    if to_real:
        x = _mirrored(x, dims[-1], last)
    length = math.prod(x.shape[d] for d in dims)
    sign = 1.0 if to_real or (name == "_fft_c2c" and not last) else -1.0
    found = x.to(torch.complex128)
    for dim in dims:
        found = _halved(found.movedim(dim, 0).contiguous(), how, sign).movedim(0, dim)
    found = found.real if to_real else found
    found = found.contiguous() * (1.0, 1.0 / math.sqrt(length), 1.0 / length)[scaling]
    if name == "_fft_r2c" and last:  # the spectrum of real numbers is symmetric: half of it is all
        return found.narrow(dims[-1], 0, x.shape[dims[-1]] // 2 + 1)
    return found


def _mirrored(x: Tensor, dim: int, size: int) -> Tensor:
    """All of a spectrum of real numbers from its first half."""
    half = x.narrow(dim, 0, size // 2 + 1)
    rest = half.narrow(dim, 1, (size - 1) // 2).flip(dim).conj().resolve_conj()
    return torch.cat([half, rest], dim)


def _halved(x: Tensor, how: Accumulator, sign: float) -> Tensor:
    """The transform along the first dimension; ``sign`` is that of the roots' exponent."""
    length = x.shape[0]
    if length == 1:
        return x
    if length % 2:
        return _by_matrix(x, how, sign)
    even, odd = _halved(x[0::2], how, sign), _halved(x[1::2], how, sign)
    turned = _multiplied(odd, _roots(length // 2, length, sign, x), how)
    sums = torch.cat([even + turned, even - turned])
    return rounded(sums, how.format)


def _by_matrix(x: Tensor, how: Accumulator, sign: float) -> Tensor:
    length = x.shape[0]
    if length > _MAX_ODD:
        exact = torch.fft.fft(x, dim=0) if sign < 0 else torch.fft.ifft(x, dim=0, norm="forward")
        return rounded(exact, how.format)
    roots = _roots(length, length, sign, x[:, :1] if x.dim() > 1 else x)
    number = torch.arange(length, device=x.device)
    matrix = roots.flatten()[(number.unsqueeze(1) * number) % length]  # (frequency, place)
    flat = x.reshape(length, 1, -1)
    terms = _multiplied(flat, matrix.T.unsqueeze(-1), how)  # (place, frequency, rest)
    return total(terms, how).view(x.shape)


def _roots(count: int, length: int, sign: float, like: Tensor) -> Tensor:
    """exp(± 2πi·j / length) for j < count, with as many dimensions as ``like``."""
    number = torch.arange(count, device=like.device, dtype=torch.float64)
    angle = number * (sign * 2 * math.pi / length)
    return torch.complex(angle.cos(), angle.sin()).view(count, *[1] * (like.dim() - 1))


def _multiplied(x: Tensor, roots: Tensor, how: Accumulator) -> Tensor:
    """A complex product: four products and two sums, each rounded."""

    def product(a: Tensor, b: Tensor) -> Tensor:
        return rounded(a * b, how.format)

    roots = rounded(roots, how.format)
    real = product(x.real, roots.real) - product(x.imag, roots.imag)
    imaginary = product(x.real, roots.imag) + product(x.imag, roots.real)
    return rounded(torch.complex(real, imaginary), how.format)
