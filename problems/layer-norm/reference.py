"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

import math

import torch
from torch import Tensor

_GROWTH = 0.25
"""The tolerance's ``factor`` over its ``constant``."""

_BIAS = 1 / 32
"""Equal terms are rounded alike in every step, so that errors grow with n and not with √n. One sum
of n equal squares is off by up to n·u/3, rstd by half of that; 8 u · n/32 are allowed."""

_DRIFT = 1 / 128
"""The same for a mean that is updated in every step. Numbers with a spread differ: measured are
0.05 n·u for few different values (bfloat16 near 1000); 8 u · n/128 are allowed."""


def reference(
    input_matrix: Tensor, gamma: Tensor, beta: Tensor, eps: float, m: int, n: int
) -> dict[str, Tensor]:
    """Rows of an (m, n) matrix normalized, then ``gamma`` and ``beta``, both (n,), per column."""
    mean = torch.sum(input_matrix, dim=1) / n
    centred = input_matrix - mean[:, None]
    rstd = _reciprocal_of_spread(centred, eps, n)
    output_matrix = torch.addcmul(beta, centred * rstd[:, None], gamma)
    return {"output_matrix": output_matrix, "mean": mean, "rstd": rstd}


def _reciprocal_of_spread(centred: Tensor, eps: float, n: int) -> Tensor:
    """(m,): 1 / √(variance + eps) of the rows, of which the means were taken off."""
    variance = torch.linalg.vector_norm(centred, dim=1).square() / n
    return 1.0 / torch.sqrt(variance + eps)


def magnitude(
    input_matrix: Tensor, gamma: Tensor, beta: Tensor, eps: float, m: int, n: int
) -> dict[str, Tensor]:
    """How errors of the sums reach each output; ``ratio`` is that of mean to spread.

    The mean is known to u times the mean magnitude of the row. In units of the row's spread that is
    u·ratio, and it is what every normalized element is off by. In a sum of squared differences from
    the computed mean it shows squared; in Welford's method, as it is (Chan, Golub, LeVeque,
    *Algorithms for computing the sample variance*, The American Statistician 37(3), 1983), so rstd
    may be off by that much, too. Nothing here is proportional to ratio²; the error of the mean of
    squares less the square of the mean is.

    Sums of n numbers with a mean are off by √n·u of their result. The tolerance adds that for the
    outputs; where mean and rstd are only on the way, it is added here. What one thread adds up for
    a whole row of similar numbers may be off by more, see above.
    """
    scale = torch.linalg.vector_norm(input_matrix, ord=1, dim=1) / n
    mean = torch.sum(input_matrix, dim=1) / n
    centred = input_matrix - mean[:, None]
    rstd = _reciprocal_of_spread(centred, eps, n)
    ratio = scale * rstd
    growth = _GROWTH * math.sqrt(n)
    of_mean = scale + n * _DRIFT * mean.abs()
    of_rstd = rstd * (1.0 + ratio + n * _BIAS)
    of_shift, of_slope = (of_mean + growth * mean.abs()) * rstd, of_rstd + growth * rstd
    of_normalized = torch.addcmul(of_shift[:, None], centred.abs(), of_slope[:, None])
    return {
        "output_matrix": torch.addcmul(beta.abs(), of_normalized, gamma.abs()),
        "mean": of_mean,
        "rstd": of_rstd,
    }
