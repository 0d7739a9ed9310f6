"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

from torch import Tensor


def reference(matrix_a: Tensor, matrix_b: Tensor, m: int, n: int, k: int) -> Tensor:
    """(m, k) · (k, n)."""
    return matrix_a @ matrix_b


def magnitude(matrix_a: Tensor, matrix_b: Tensor, m: int, n: int, k: int) -> Tensor:
    """What was summed, without signs: errors are measured against this."""
    return matrix_a.abs() @ matrix_b.abs()
