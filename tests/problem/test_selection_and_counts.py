"""What the references of histogram and top-k take for right."""

from pathlib import Path
from types import ModuleType

import pytest
import torch

PROBLEMS = Path(__file__).parents[2] / "problems"


def functions(slug: str) -> ModuleType:
    module = ModuleType(slug)
    exec((PROBLEMS / slug / "reference.py").read_text(encoding="utf-8"), vars(module))
    return module


def test_every_bin_is_counted_and_those_without_numbers_are_zero() -> None:
    values = torch.tensor([3, 0, 3, 3])
    counts = functions("histogram").reference(values, n=4, num_bins=6)
    assert counts.tolist() == [1, 0, 0, 3, 0, 0]


X = torch.tensor([[1.0, 5.0, 5.0, 5.0, -2.0]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("indices", "right"),
    [
        ([1, 2], [True, True]),
        ([3, 1], [True, True]),  # any of equals, in any order
        ([2, 2], [True, False]),  # once each
        ([0, 1], [False, True]),
        ([-1, 5], [False, False]),
        ([-(2**31), 2**31 - 1], [False, False]),
    ],
)
def test_indices_are_right_where_the_element_is_and_none_is_told_twice(
    indices: list[int], right: list[bool]
) -> None:
    top_k = functions("top-k")
    expected = top_k.reference(X, m=1, n=5, k=2)
    assert expected["values"].tolist() == [[5.0, 5.0]]
    got = {"values": expected["values"], "indices": torch.tensor([indices])}
    said = top_k.check(got, expected, X, m=1, n=5, k=2)
    assert list(said) == ["indices"]
    assert said["indices"].tolist() == [right]
