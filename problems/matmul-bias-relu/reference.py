"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

import torch
from torch import Tensor


def reference(matrix_a: Tensor, matrix_b: Tensor, bias: Tensor, m: int, n: int, k: int) -> Tensor:
    """(m, k) · (k, n), plus one number for each row, then ReLU."""
    layer = matrix_a @ matrix_b + bias[:, None]
    return torch.where(layer > 0, layer, 0.0)


def magnitude(matrix_a: Tensor, matrix_b: Tensor, bias: Tensor, m: int, n: int, k: int) -> Tensor:
    """What was summed, the bias included, without signs: errors are measured against this.

    The rectifier makes no error greater. Where it answers 0 the sum may still be off by as much,
    and on the other side of 0.
    """
    return matrix_a.abs() @ matrix_b.abs() + bias.abs()[:, None]
