"""Whether each row of a reference's outputs follows from the same row of its inputs, by trying."""

from collections.abc import Callable

import torch
from torch import Tensor

from harness.formats.process.adaptor import Tensors, agree, roughly, same
from harness.formats.process.place import in_host_memory
from harness.formats.rounding import root_mean_square

_FEW_ROWS = 3
_SAME = 1e-9
"""Relative: sums in float64 in another order differ by much less, other numbers by more."""


def row_count(tensors: Tensors) -> int:
    """How many rows all tensors have; 0 where some have others, or none."""
    counts = {len(x) if x.dim() else 0 for x in tensors.values()}
    return counts.pop() if len(counts) == 1 else 0


def first_rows(tensors: Tensors, count: int) -> dict[str, Tensor]:
    """The first rows of each, in memory of their own."""
    return {name: x[:count].clone() for name, x in tensors.items()}


def without_values(tensors: Tensors, count: int) -> dict[str, Tensor]:
    """Tensors of shapes alone, with so many rows."""
    return {name: x[:1].to("meta").expand(count, *x.shape[1:]) for name, x in tensors.items()}


def is_by_rows(returned: Callable[[slice], Tensors], count: int) -> bool:
    """Whether a few rows in float64 are the same together and one by one, but for rounding.

    ``returned`` gives the outputs for some of the ``count`` rows of the inputs.
    """
    few = min(count, _FEW_ROWS)
    try:
        together = returned(slice(few))
        alone = [returned(slice(row, row + 1)) for row in range(few)]
    except Exception:  # some need all rows that there are
        return False
    return all(_is_joined(x, [each[name] for each in alone]) for name, x in together.items())


def agrees_with_whole(
    returned: Callable[[slice], Tensors],
    whole: Tensors,
    count: int,
    tolerance: float,
    *,
    rough: bool,
) -> bool:
    """Whether single rows, the last among them, are what they are in the outputs of all rows.

    What goes by the number of a row shows itself there alone. Answers of a ``rough`` reference are
    off those in float64 by more than its tolerance: then it is enough that they are the same ones.
    """
    for row in (0, count // 2, count - 1):
        alone = slice(row, row + 1)
        there = {name: in_host_memory(x[alone]) for name, x in whole.items()}
        exact = returned(alone)
        if rough and roughly(there, exact) is None:
            return False
        if not (rough or agree(there, exact, tolerance, tolerance)):
            return False
    return True


def _is_joined(together: Tensor, alone: list[Tensor]) -> bool:
    """Whether an output of some rows is what those have alone."""
    if {each.shape[:1] for each in alone} != {(1,)} or together.shape[:1] != (len(alone),):
        return False
    joined = torch.cat(alone)
    if not (together.is_floating_point() or together.is_complex()):
        return same({"": joined}, {"": together})
    atol = _SAME * float(root_mean_square(together))
    return torch.allclose(joined, together, rtol=_SAME, atol=atol, equal_nan=True)
