"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

import torch
from torch import Tensor


def reference(
    matrix_x: Tensor,
    weight: Tensor,
    bias: Tensor,
    scale: float,
    slope: float,
    batch: int,
    in_features: int,
    out_features: int,
) -> Tensor:
    """(batch, in_features) · (out_features, in_features)ᵀ + bias, scaled, then LeakyReLU."""
    layer = matrix_x @ weight.T + bias
    scaled = layer * scale
    # Not leaky_relu, which has only to be right for slopes that networks use.
    return torch.where(scaled >= 0, scaled, scaled * slope)


def magnitude(
    matrix_x: Tensor,
    weight: Tensor,
    bias: Tensor,
    scale: float,
    slope: float,
    batch: int,
    in_features: int,
    out_features: int,
) -> Tensor:
    """What was summed, the bias included, without signs: errors are measured against this.

    Scale and slope stretch errors as they stretch the sum. Where rounding changes the sign of a
    sum, the other branch of the rectifier is taken, so both slopes count.
    """
    summed = matrix_x.abs() @ weight.abs().T + bias.abs()
    return summed * (abs(scale) * max(1.0, abs(slope)))
