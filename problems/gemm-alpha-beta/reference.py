"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

from torch import Tensor


def reference(
    matrix_a: Tensor,
    matrix_b: Tensor,
    matrix_c: Tensor,
    alpha: float,
    beta: float,
    m: int,
    n: int,
    k: int,
    ld_a: int,
    ld_b: int,
    ld_c: int,
) -> Tensor:
    """α times (m, k) · (k, n), plus β times (m, n)."""
    result = matrix_a @ matrix_b
    result *= alpha
    if beta != 0.0:  # else C is no input, whatever it holds
        result += matrix_c * beta
    return result


def magnitude(
    matrix_a: Tensor,
    matrix_b: Tensor,
    matrix_c: Tensor,
    alpha: float,
    beta: float,
    m: int,
    n: int,
    k: int,
    ld_a: int,
    ld_b: int,
    ld_c: int,
) -> Tensor:
    """What was summed, without signs: errors are measured against this."""
    summed = matrix_a.abs() @ matrix_b.abs()
    summed *= abs(alpha)
    if beta != 0.0:
        summed += matrix_c.abs() * abs(beta)
    return summed
