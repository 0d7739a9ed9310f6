"""A digest of memory: whatever changes in it is found, and where."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.live_memory import LiveMemory

from harness.device.choose import open_device
from harness.device.digest import ROW
from harness.judge.digest import Digest

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


def test_keys_are_new_each_time_and_no_one_elses(data: torch.Tensor) -> None:
    one, other = Digest(data, STRETCHES), Digest(data, STRETCHES)
    one.take()
    other.take()
    first = one._keys.clone()
    assert not torch.equal(first, other._keys)
    one.take()
    assert not torch.equal(first, one._keys)
    # 8192 bytes, each value 32 times on the average
    counts = torch.bincount(first.view(torch.uint8).long().flatten(), minlength=256)
    assert 8 < int(counts.min()) <= int(counts.max()) < 70


def test_each_half_of_a_digest_finds_changes() -> None:
    """By itself, so that both have to miss one."""
    data = random_bytes(8 * ROW)
    made = Digest(data, [(0, len(data))])
    made.take()
    before = made._noted.clone()
    data[3 * ROW + 5] ^= 128
    assert made.first_change() == 3 * ROW
    assert (made._now != before).tolist() == [[row == 3] * 2 for row in range(8)]


def test_memory_is_a_128th_and_taken_at_once() -> None:
    data = random_bytes(4000 * ROW)
    with LiveMemory() as memory:
        made = Digest(data, [(1, len(data) - 1)])
        kept = memory.live
        made.take()
        after = memory.live
        made.first_change()
    assert kept <= len(data) // 128 + 4 * ROW
    assert after == kept
    assert memory.peak <= kept + 9 * 64 * ROW


@pytest.mark.gpu
def test_a_gpu_finds_the_same() -> None:
    """Its digest is that of the CPU; and of more than 1 GiB all of it is."""
    device = open_device("cuda")
    host = random_bytes()
    data = host.cuda()
    here, there = Digest(host, STRETCHES), Digest(data, STRETCHES, device.digest)
    here.take()
    there._keys.copy_(here._keys)
    there._compute(there._noted)
    assert torch.equal(there._noted.cpu(), here._noted)
    there.take()
    assert there.first_change() is None
    for at in (100, 33 * ROW + 5, 70 * ROW + 16, 72 * ROW, SIZE - 1):
        data[at] ^= 1
        found = there.first_change()
        data[at] ^= 1
        assert found is not None and found <= at < found + ROW
    large = torch.zeros((3 << 29) + 512, dtype=torch.uint8, device="cuda")
    made = Digest(large, [(512, len(large))], device.digest)
    made.take()
    assert made.first_change() is None
    large[-700] ^= 128
    found = made.first_change()
    assert found is not None and found <= len(large) - 700 < found + ROW
