"""Reference of the problem that nobody solves."""

import torch


def reference(x: torch.Tensor, n: int) -> dict[str, torch.Tensor]:
    """X + 1, element by element, and no time."""
    return {"nanoseconds": _none(x), "y": x + 1}


def magnitude(x: torch.Tensor, n: int) -> dict[str, torch.Tensor]:
    """What is added, in magnitude."""
    return {"nanoseconds": _none(x), "y": x.abs() + 1}


def _none(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros(1, dtype=torch.int64, device=x.device)
