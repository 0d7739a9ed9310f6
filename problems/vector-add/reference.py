"""What the right answer is. The judge calls these with float64 tensors, or int64 for integers."""

from torch import Tensor


def reference(x: Tensor, y: Tensor, n: int) -> Tensor:
    """The sum of two vectors, (n,) each."""
    return x + y


def magnitude(x: Tensor, y: Tensor, n: int) -> Tensor:
    """What was summed, without signs; the tolerance gives it no weight.

    However much x and y cancel, a single addition is only wrong by the rounding of its result.
    """
    return x.abs() + y.abs()
