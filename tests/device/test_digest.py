"""Digests of rows are what their definition says, by every way to compute them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.device.choose import open_device
from harness.device.digest import KEYS, ROW, digest_by_torch


def by_definition(row: bytes, keys: list[int]) -> int:
    words = [int.from_bytes(row[at : at + 4], "little") for at in range(0, ROW, 4)]
    sums = [(k + m) % 2**32 for k, m in zip(keys, words, strict=True)]
    return sum(a * b for a, b in zip(sums[::2], sums[1::2], strict=True)) % 2**64


def drawn(seed: int, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    data = torch.randint(0, 256, (rows, ROW), generator=generator).byte()
    return data, torch.randint(-(2**31), 2**31, KEYS, generator=generator).int()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), extreme=st.sampled_from([None, 0, 255]))
def test_torch_computes_what_the_definition_says(seed: int, extreme: int | None) -> None:
    data, keys = drawn(seed, 3)
    if extreme is not None:
        data[1] = extreme
        keys[:] = -1
    into = torch.empty((3, 2), dtype=torch.int64)
    digest_by_torch(data, keys, into)
    for row, found in zip(data, into.tolist(), strict=True):
        for half, value in zip(keys.tolist(), found, strict=True):
            secret = [word % 2**32 for word in half]
            assert value % 2**64 == by_definition(bytes(row.tolist()), secret)


def test_rows_are_taken_a_number_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    data, keys = drawn(1, 7)
    once, often = torch.empty((2, 7, 2), dtype=torch.int64)
    digest_by_torch(data, keys, once)
    monkeypatch.setattr("harness.device.digest._AT_ONCE", 3)
    digest_by_torch(data, keys, often)
    assert torch.equal(once, often)


@pytest.mark.gpu
@pytest.mark.parametrize("rows", [1, 7, 9, 40_000])
def test_the_kernel_computes_the_same(rows: int) -> None:
    device = open_device("cuda")
    data, keys = drawn(rows, rows)
    right = torch.empty((rows, 2), dtype=torch.int64)
    digest_by_torch(data, keys, right)
    into = torch.empty((rows, 2), dtype=torch.int64, device="cuda")
    device.digest(data.cuda(), keys.cuda(), into)
    assert torch.equal(into.cpu(), right)
