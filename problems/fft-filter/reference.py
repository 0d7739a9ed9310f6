"""What the right answer is. The judge calls these with complex128 tensors, on any device."""

import math

import torch
from torch import Tensor

PART = 32
"""Terms summed in one go: partial sums of partial sums keep rounding errors from piling up."""

LONGEST = 512
"""Above, a fast transform: of shapes that are timed, whose prime factors are 2, 3, 5 and 7. Below,
none: on a CPU, PyTorch calls MKL, whose complex128 transforms are off by up to 1200 unit roundoffs
where n has prime factors from 17 to 149 beside others (by up to 18 where it has none above 13)."""


def reference(signals: Tensor, responses: Tensor, batch: int, n: int) -> Tensor:
    """Each row of (batch, n): its transform, times its response, transformed back."""
    spectrum = _transform(signals)
    spectrum *= responses
    return _transform(spectrum.conj()).conj().resolve_conj() / n


def magnitude(signals: Tensor, responses: Tensor, batch: int, n: int) -> Tensor:
    """How large an error of one unit roundoff gets: one number for each row, of shape (batch, n).

    Transforms are unitary but for a factor √n, so they neither amplify an error nor concentrate it:
    it is gauged by norms (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
    24.1, on the FFT: relative error of order u · log n in the 2-norm, in practice of its root).
    Errors of the forward transform, about u · ‖x‖ for each frequency, are multiplied by F and
    spread evenly by the inverse: ‖x‖ · ‖F‖ / n. Those of the inverse add u · ‖x̂ ∘ F‖ / n.

    A transform that is computed from its definition sums up n terms in a row. Its partial sums are
    transforms of the row's first elements, so that their norms, over all frequencies, are at most
    that of the whole; n rounding errors of random sign then come to √n of one, whatever the data.
    Measured: 1.2 · √n · u in the order of the formula, 5 u for an FFT, 12 u for Bluestein's.
    With the constant 16 of the error model, 1 + √n/8 makes 16 + 2 · √n of them.

    Whoever computes the angles 2πj/n in the precision of the data has 2π/n itself rounded, so all
    of them are off by the same factor. Roots of unity then no longer add up to zero: the sum of x
    leaks into all frequencies alike, and the inverse collects it in y_0, times the sum of F. That
    is what the last term is for; where x and F have no mean, it is as small as the others.
    """
    spectrum = torch.fft.fft(signals, dim=1)
    spectrum *= responses
    gauge = _norms(signals) * _norms(responses) + _norms(spectrum)
    gauge *= 1.0 + math.sqrt(n) / 8.0
    gauge += _sums(signals) * _sums(responses) / 4.0
    return gauge.div_(n).repeat(1, n)


def _transform(rows: Tensor) -> Tensor:
    """The discrete Fourier transform of every row of a complex (batch, n)."""
    n = rows.shape[1]
    if n > LONGEST:
        return torch.fft.fft(rows, dim=1)
    roots = _roots(n, rows.device)
    k = torch.arange(n, device=rows.device)
    total = torch.zeros_like(rows)
    for start in range(0, n, PART):
        j = k[start : start + PART, None]
        total += rows[:, start : start + PART] @ roots[j * k % n]
    return total


def _roots(n: int, device: torch.device) -> Tensor:
    """exp(-2 pi i j / n) for j < n, to the last digit or two: (n,), complex128."""
    j = torch.arange(n, device=device)
    quarters = (8 * j + n) // (2 * n)  # the nearest quarter turn; what is left is at most an eighth
    angle = (4 * j - quarters * n).double() * (math.pi / 2) / n
    turned = torch.tensor([1, -1j, -1, 1j], dtype=torch.complex128, device=device)
    return torch.complex(angle.cos(), -angle.sin()) * turned[quarters % 4]


def _norms(rows: Tensor) -> Tensor:
    """2-norms of the rows of a complex (batch, n), as (batch, 1)."""
    return torch.linalg.vector_norm(rows, dim=1, keepdim=True)


def _sums(rows: Tensor) -> Tensor:
    """Moduli of the sums of the rows of a complex (batch, n), as (batch, 1)."""
    return rows.sum(dim=1, keepdim=True).abs()
