"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

import math

import torch
from torch import Tensor

_ROOT_HALF = math.sqrt(0.5)

_STEEPEST = 1.13
"""GELU's derivative Φ(z) + z φ(z) has its maximum at z = √2: 1.1290."""


def reference(matrix_a: Tensor, matrix_b: Tensor, bias: Tensor, m: int, n: int, k: int) -> Tensor:
    """(m, k) · (k, n), plus one number for each column, then GELU in its exact form.

    By erfc, not 1 + erf: that would cancel far below zero, in float64 as well.
    """
    layer = matrix_a @ matrix_b + bias
    return 0.5 * layer * torch.erfc(layer * -_ROOT_HALF)


def magnitude(matrix_a: Tensor, matrix_b: Tensor, bias: Tensor, m: int, n: int, k: int) -> Tensor:
    """What was summed, the bias included, without signs, times the greatest slope of GELU.

    An error of the sum becomes one of the result, magnified by no more than that. What the
    evaluation of GELU itself loses, a few roundoffs of its argument, is no more than this either:
    0.5 z (1 + erf(z / √2)) has an absolute error like that where it cancels, far below zero.
    """
    summed = matrix_a.abs() @ matrix_b.abs() + bias.abs()
    return summed * _STEEPEST
