"""Comparing tensors to the last bit."""

import pytest
import torch

from harness.verify.trial import same_bits


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 2])
def test_a_part_of_a_larger_tensor_is_compared_like_any_other(rows: int, columns: int) -> None:
    whole = torch.arange(8.0, dtype=torch.float64).view(2, 4)
    part = whole[:rows, :columns]
    assert same_bits(part, part.contiguous())
    assert same_bits(part.mT, part.contiguous().mT)
    assert not same_bits(part, part + 1)


def test_the_sign_of_a_zero_and_conjugates_count() -> None:
    assert not same_bits(torch.tensor(0.0), torch.tensor(-0.0))
    z = torch.tensor([[1 + 2j, 3 - 1j]])[:, :1]
    assert same_bits(z.conj(), torch.tensor([[1 - 2j]]))
    assert not same_bits(z.conj(), z)
