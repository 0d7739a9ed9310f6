"""Reference of the problem that nobody solves."""

import torch


def reference(x: torch.Tensor, n: int) -> torch.Tensor:
    """X + 1, element by element."""
    return x + 1


def magnitude(x: torch.Tensor, n: int) -> torch.Tensor:
    """What is added, in magnitude."""
    return x.abs() + 1
