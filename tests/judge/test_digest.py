"""A digest of memory: whatever changes in it is found, and where."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.live_memory import LiveMemory

from harness.device.choose import open_device
from harness.judge import digest
from harness.judge.digest import MIN_ROWS, ROW, Digest

SIZE = 80 * ROW
STRETCHES = [(100, 70 * ROW + 17), (71 * ROW, 75 * ROW + 3), (79 * ROW, 80 * ROW)]
"""One with a digest and two edges, two that are kept as they are."""


def random_bytes(size: int = SIZE) -> torch.Tensor:
    return torch.randint(0, 256, (size,), generator=torch.Generator().manual_seed(1)).byte()


@pytest.fixture(scope="module")
def data() -> torch.Tensor:
    return random_bytes()


@pytest.fixture(scope="module")
def taken(data: torch.Tensor) -> Digest:
    made = Digest(data, STRETCHES)
    made.take()
    return made


def test_nothing_has_changed_where_nothing_was_written(taken: Digest) -> None:
    assert taken.first_change() is None


@given(st.data())
def test_a_change_of_any_bits_of_any_byte_is_found(
    data: torch.Tensor, taken: Digest, drawn: st.DataObject
) -> None:
    start, stop = drawn.draw(st.sampled_from(STRETCHES))
    at = drawn.draw(st.integers(start, stop - 1) | st.sampled_from([start, stop - 1]))
    bits = drawn.draw(st.integers(1, 255))
    data[at] ^= bits
    found = taken.first_change()
    data[at] ^= bits
    assert found is not None
    assert found <= at < found + ROW
    assert start <= found
    assert taken.first_change() is None


@given(at=st.integers(100, 70 * ROW), other=st.integers(100, 70 * ROW), by=st.integers(1, 255))
def test_two_changes_that_cancel_in_a_sum_are_found(
    data: torch.Tensor, taken: Digest, at: int, other: int, by: int
) -> None:
    if at == other:
        return
    before = data[[at, other]].clone()
    data[at] += by
    data[other] -= by
    found = taken.first_change()
    data[[at, other]] = before
    assert found is not None
    assert found <= min(at, other) < found + ROW


def test_rows_that_change_places_are_found(data: torch.Tensor, taken: Digest) -> None:
    before = data.clone()
    data[10 * ROW : 11 * ROW], data[11 * ROW : 12 * ROW] = (
        before[11 * ROW : 12 * ROW],
        before[10 * ROW : 11 * ROW],
    )
    assert taken.first_change() == 10 * ROW
    data[10 * ROW : 12 * ROW] = before[10 * ROW : 11 * ROW].flip(0).repeat(2)
    assert taken.first_change() == 10 * ROW
    data.copy_(before)


def test_a_sign_that_flips_is_found_in_zeros() -> None:
    data = torch.zeros(64 * ROW, dtype=torch.uint8)
    made = Digest(data, [(0, 64 * ROW)])
    made.take()
    data.view(torch.float32)[12345] = -0.0
    assert made.first_change() == 12345 * 4 // ROW * ROW


def test_what_lies_between_the_stretches_may_change(data: torch.Tensor, taken: Digest) -> None:
    for at in (0, 99, 70 * ROW + 17, 75 * ROW + 3, 79 * ROW - 1):
        data[at] ^= 1
    assert taken.first_change() is None
    for at in (0, 99, 70 * ROW + 17, 75 * ROW + 3, 79 * ROW - 1):
        data[at] ^= 1


def test_weights_are_new_each_time_and_no_one_elses(data: torch.Tensor) -> None:
    one, other = Digest(data, STRETCHES), Digest(data, STRETCHES)
    one.take()
    other.take()
    first = one._weights.clone()
    assert not torch.equal(first, other._weights)
    one.take()
    assert not torch.equal(first, one._weights)
    # 65,536 bytes, each value 256 times on the average
    counts = torch.bincount(first.view(torch.uint8).long().flatten(), minlength=256)
    assert 150 < int(counts.min()) <= int(counts.max()) < 370


def test_the_product_is_exact_at_its_ends() -> None:
    for x in (-128, 127):
        for w in (-128, 127):
            rows = torch.full((MIN_ROWS, ROW), x, dtype=torch.int8)
            weights = torch.full((ROW, 16), w, dtype=torch.int8)
            assert bool((torch._int_mm(rows, weights) == x * w * ROW).all())


def test_a_column_misses_a_change_about_once_in_256_at_most() -> None:
    """With even differences more than one weight would do modulo 256; whole numbers do not wrap."""
    data = torch.zeros(MIN_ROWS * ROW, dtype=torch.uint8)
    made = Digest(data, [(0, len(data))])
    missed = 0
    for _ in range(100):
        data.zero_()
        made.take()
        data[5] = 128
        now = torch._int_mm(data.view(torch.int8).view(-1, ROW), made._weights)
        missed += int((now[0] == made._rows[0][1][0]).sum())
    assert missed < 4 * 1600 / 256


def test_pieces_have_rows_enough_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_MAX_ROWS", 2 * MIN_ROWS)
    for rows in range(MIN_ROWS, 7 * MIN_ROWS, 5):
        made = Digest(torch.zeros(rows * ROW, dtype=torch.uint8), [(0, rows * ROW)])
        lengths = [len(noted) for _, noted in made._rows]
        assert sum(lengths) == rows
        assert len(lengths) == math.ceil(rows / (2 * MIN_ROWS))
        assert min(lengths) >= MIN_ROWS
        made.take()
        made._data[(rows - 1) * ROW + 9] = 1
        assert made.first_change() == (rows - 1) * ROW


def test_memory_is_a_64th_and_taken_at_once() -> None:
    data = random_bytes(4000 * ROW)
    with LiveMemory() as memory:
        made = Digest(data, [(1, len(data) - 1)])
        kept = memory.live
        made.take()
        after = memory.live
        made.first_change()
    assert kept <= len(data) // 64 + 16 * ROW + 2 * ROW
    assert after == kept
    assert memory.peak <= 2.5 * kept


@pytest.mark.gpu
def test_a_gpu_finds_the_same() -> None:
    """Its digest is that of the CPU, and a fill of 1 GiB and more is digested in pieces."""
    open_device("cuda")
    host = random_bytes()
    data = host.cuda()
    here, there = Digest(host, STRETCHES), Digest(data, STRETCHES)
    here.take()
    there.take()
    there._weights.copy_(here._weights)
    for (at, one), (_, other) in zip(here._rows, there._rows, strict=True):
        assert torch.equal(one, torch._int_mm(there._matrix(at, other), there._weights).cpu())
    there.take()
    assert there.first_change() is None
    for at in (100, 33 * ROW + 5, 70 * ROW + 16, 72 * ROW, SIZE - 1):
        data[at] ^= 1
        found = there.first_change()
        data[at] ^= 1
        assert found is not None and found <= at < found + ROW
    large = torch.zeros((3 << 29) + 512, dtype=torch.uint8, device="cuda")
    made = Digest(large, [(512, len(large))])
    made.take()
    assert made.first_change() is None
    large[-700] ^= 128
    found = made.first_change()
    assert found is not None and found <= len(large) - 700 < found + ROW
