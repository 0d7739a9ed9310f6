"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

from torch import Tensor


def reference(
    matrix_x: Tensor, weight: Tensor, bias: Tensor, batch: int, m: int, n: int, k: int
) -> Tensor:
    """Each (m, k) of the batch times the same (k, n), plus one number for each column."""
    return matrix_x @ weight + bias


def magnitude(
    matrix_x: Tensor, weight: Tensor, bias: Tensor, batch: int, m: int, n: int, k: int
) -> Tensor:
    """What was summed, the bias included, without signs: errors are measured against this."""
    return matrix_x.abs() @ weight.abs() + bias.abs()
