"""What the right answers are. The judge calls these with wide tensors, on the CPU or on a GPU."""

import torch
from torch import Tensor


def reference(input_matrix: Tensor, m: int, n: int, k: int) -> dict[str, Tensor]:
    """The k largest elements of each row, in descending order, and where the first such stand."""
    values, indices = torch.sort(input_matrix, dim=1, descending=True, stable=True)
    return {"values": values[:, :k], "indices": indices[:, :k]}


def check(
    got: dict[str, Tensor],
    expected: dict[str, Tensor],
    input_matrix: Tensor,
    m: int,
    n: int,
    k: int,
) -> dict[str, Tensor]:
    """Which indices are right: those of elements with the right value, none for the second time."""
    indices = got["indices"]
    inside = (indices >= 0) & (indices < n)
    elements = torch.gather(input_matrix, 1, indices.clamp(0, n - 1))
    ordered, places = torch.sort(indices, dim=1, stable=True)
    again = torch.zeros_like(inside)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    repeated = torch.zeros_like(inside).scatter_(1, places, again)
    return {"indices": inside & (elements == expected["values"]) & ~repeated}
