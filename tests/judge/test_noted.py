"""Inputs that are noted by a digest: drawn again, found changed to the byte, and put back."""

from collections.abc import Iterator

import pytest
import torch
from support.fake_sessions import CASE

from harness.device.cpu import HostArena
from harness.judge.batch import Batch
from harness.judge.layout import lay_out
from harness.judge.noted import Noted
from harness.judge.task import Task

CALLS = 5


@pytest.fixture
def batch(shift_task: Task) -> Iterator[Batch]:
    arena = HostArena(lay_out(shift_task, CASE, CALLS).size)
    filled = Batch(shift_task, CASE, arena, CALLS)
    filled.fill("seed")
    yield filled
    del filled
    arena.close()


def noted(batch: Batch) -> Noted:
    assert isinstance(batch._filling, Noted)
    return batch._filling


def test_it_lies_within_a_submissions_reach(batch: Batch) -> None:
    assert not batch.kept
    assert not noted(batch).untouched()
    before = batch.bytes.clone()
    batch.draw("other")  # of which there is nothing to be seen
    batch.expect("other")
    assert torch.equal(batch.bytes, before)


def test_what_calls_read_is_drawn_again_or_read_where_it_lies(batch: Batch) -> None:
    filled = [batch.filled(call)["x"] for call in range(CALLS)]
    read = noted(batch).reader()
    for call in range(CALLS):
        assert torch.equal(noted(batch).drawn(call)["x"], filled[call])
        assert torch.equal(read(call)["x"], filled[call])
    (slots,) = batch.layout.constant
    batch.layout.rows(batch.bytes, slots).zero_()
    assert torch.equal(noted(batch).drawn(2)["x"], filled[2])
    assert not read(2)["x"].any()


@pytest.mark.parametrize("call", range(CALLS))
def test_a_changed_byte_is_placed_and_put_back(batch: Batch, call: int) -> None:
    before = batch.bytes.clone()
    (slots,) = batch.layout.constant
    place = slots.base + call * slots.stride + 17
    batch.bytes[place] ^= 1
    assert noted(batch).first_change() == place
    noted(batch).put_back()
    assert noted(batch).first_change() is None
    assert torch.equal(batch.bytes, before)


def test_what_was_not_noted_cannot_be_asked_for(shift_task: Task) -> None:
    arena = HostArena(lay_out(shift_task, CASE, 1).size)
    batch = Batch(shift_task, CASE, arena, 1, checked=False)
    batch.fill("seed")
    with pytest.raises(ValueError, match="no digest"):
        noted(batch).first_change()
    del batch
    arena.close()
