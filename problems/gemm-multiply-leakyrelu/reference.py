"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

from torch import Tensor


def reference(
    matrix_a: Tensor, matrix_b: Tensor, matrix_c: Tensor, alpha: float, m: int, n: int, k: int
) -> Tensor:
    """(m, k) · (k, n), times (m, n) element by element, then LeakyReLU of slope ``alpha``."""
    product = matrix_a @ matrix_b
    product *= matrix_c
    # Not leaky_relu, which has only to be right for slopes that networks use.
    return product.where(product >= 0, product * alpha)


def magnitude(
    matrix_a: Tensor, matrix_b: Tensor, matrix_c: Tensor, alpha: float, m: int, n: int, k: int
) -> Tensor:
    """What was summed, without signs: errors are measured against this.

    Where rounding changes the sign of a sum, the other branch of the rectifier is taken, so both
    slopes count.
    """
    summed = matrix_a.abs() @ matrix_b.abs()
    summed *= matrix_c.abs()
    summed *= max(1.0, abs(alpha))
    return summed
