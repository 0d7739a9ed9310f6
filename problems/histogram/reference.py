"""What the right answer is. The judge calls this with int64 tensors, on the CPU or on a GPU."""

import torch
from torch import Tensor


def reference(values: Tensor, n: int, num_bins: int) -> Tensor:
    """How often each of 0 … num_bins - 1 occurs among the n values: (num_bins,) counts."""
    return torch.bincount(values, minlength=num_bins)[:num_bins]
