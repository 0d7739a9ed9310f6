"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

import torch
from torch import Tensor

_FLUSHED = 2.0**-104
"""Makes 16 u · magnitude at least 2⁻¹²⁴: kernels may flush what float32 has no normal number for,
in an exponential and again in the result."""


def reference(input_matrix: Tensor, m: int, n: int) -> Tensor:
    """Softmax along the rows of an (m, n) matrix, with each row's maximum subtracted first."""
    exponents = input_matrix - torch.amax(input_matrix, dim=1, keepdim=True)
    exponentials = torch.exp(exponents)
    return exponentials / torch.sum(exponentials, dim=1, keepdim=True)


def magnitude(input_matrix: Tensor, m: int, n: int) -> Tensor:
    """The result times (1 + its own exponent + the mean exponent under the result's weights).

    An exponent t ≤ 0 is known to u·|t|, whether it is the difference that is rounded or its
    product with log₂e, and so e^t to u·|t|·e^t. Each result inherits that from its own exponential,
    and from the sum below it the average over the row, in which every term counts with its share.
    """
    exponents = input_matrix - torch.amax(input_matrix, dim=1, keepdim=True)
    exponentials = torch.exp(exponents)
    shares = exponentials / torch.sum(exponentials, dim=1, keepdim=True)
    distances = exponents.abs()
    in_the_sum = torch.sum(shares * distances, dim=1, keepdim=True)
    return shares * (1.0 + distances + in_the_sum) + _FLUSHED
