"""Compute discrete Fourier transforms in an accumulator's arithmetic.

Even lengths are halved (Cooley and Tukey, *An algorithm for the machine calculation of complex
Fourier series*, Math. Comp. 19, 1965), each stage rounding what it multiplies and adds; what is
left is multiplied by the matrix of the transform. Roots of unity are exact but for one rounding.
"""

import math

import torch
from torch import Tensor

from harness.verify.arithmetic.composites import Operation
from harness.verify.arithmetic.rounding import rounded
from harness.verify.arithmetic.sums import Accumulator, total

_MAX_ODD = 128
"""Longest odd factor that is transformed by its matrix; beyond it torch does it in float64."""


def transform(
    func: Operation, x: Tensor, dims: list[int], scaling: int, last: int, *, how: Accumulator
) -> Tensor:
    """The result of ``aten._fft_c2c``, ``_fft_r2c`` or ``_fft_c2r`` with these arguments.

    ``last`` is what differs: c2c whether forward, r2c whether one-sided, c2r the length of the last
    dimension. More than one dimension is done one after the other; the scaling comes from the
    operation itself.
    """
    name = func.overloadpacket.__name__
    scale = _scale(x, dims, scaling)
    if name == "_fft_c2c":
        return _along(x, dims, how, forward=bool(last)) * scale
    if name == "_fft_r2c":
        found = _along(x.to(torch.complex128), dims, how, forward=True) * scale
        # The spectrum of real numbers is symmetric: half of it says all.
        return found.narrow(dims[-1], 0, x.shape[dims[-1]] // 2 + 1) if last else found
    full = _mirrored(x, dims[-1], last)
    found = _along(full, dims, how, forward=False).real * _scale(full, dims, scaling)
    return found.contiguous()


def _scale(x: Tensor, dims: list[int], scaling: int) -> float:
    """The factor for torch's mode: 0 none, 1 one over the root of the length, 2 over the length."""
    length = math.prod(x.shape[d] for d in dims)
    return (1.0, 1.0 / math.sqrt(length), 1.0 / length)[scaling]


def _mirrored(x: Tensor, dim: int, size: int) -> Tensor:
    """All of a spectrum of real numbers from its first half."""
    half = x.narrow(dim, 0, size // 2 + 1)
    rest = half.narrow(dim, 1, (size - 1) // 2).flip(dim).conj().resolve_conj()
    return torch.cat([half, rest], dim)


def _along(x: Tensor, dims: list[int], how: Accumulator, *, forward: bool) -> Tensor:
    for dim in dims:
        x = _halved(x.movedim(dim, 0).contiguous(), how, -1.0 if forward else 1.0).movedim(0, dim)
    return x.contiguous()


def _halved(x: Tensor, how: Accumulator, sign: float) -> Tensor:
    """The transform along the first dimension."""
    length = x.shape[0]
    if length == 1:
        return x
    if length % 2:
        return _by_matrix(x, how, sign)
    even, odd = _halved(x[0::2], how, sign), _halved(x[1::2], how, sign)
    turned = _multiplied(odd, _roots(length // 2, length, sign, x), how)
    return torch.cat([_rounded(even + turned, how), _rounded(even - turned, how)])


def _by_matrix(x: Tensor, how: Accumulator, sign: float) -> Tensor:
    length = x.shape[0]
    if length > _MAX_ODD:
        return _rounded(torch.fft.fft(x, dim=0) if sign < 0 else _inverse(x), how)
    roots = _roots(length, length, sign, x[:, :1] if x.dim() > 1 else x)
    number = torch.arange(length, device=x.device)
    matrix = roots.flatten()[(number.unsqueeze(1) * number) % length]  # (frequency, place)
    flat = x.reshape(length, 1, -1)
    terms = _multiplied(flat, matrix.T.unsqueeze(-1), how)  # (place, frequency, rest)
    return total(terms, how).view(x.shape)


def _inverse(x: Tensor) -> Tensor:
    found: Tensor = torch.fft.ifft(x, dim=0, norm="forward")
    return found


def _roots(count: int, length: int, sign: float, like: Tensor) -> Tensor:
    """exp(± 2πi·j / length) for j < count, with as many dimensions as ``like``."""
    angle = torch.arange(count, device=like.device, dtype=torch.float64) * (
        sign * 2 * math.pi / length
    )
    return torch.complex(angle.cos(), angle.sin()).view(count, *[1] * (like.dim() - 1))


def _multiplied(x: Tensor, roots: Tensor, how: Accumulator) -> Tensor:
    """A complex product: four products and two sums, each rounded."""
    r, i = _rounded(roots, how).real, _rounded(roots, how).imag
    return torch.complex(
        _rounded(_rounded(x.real * r, how) - _rounded(x.imag * i, how), how),
        _rounded(_rounded(x.real * i, how) + _rounded(x.imag * r, how), how),
    )


def _rounded(x: Tensor, how: Accumulator) -> Tensor:
    if x.is_complex():
        return torch.view_as_complex(_rounded(torch.view_as_real(x.resolve_conj()), how))
    return rounded(x.contiguous(), how.format)
