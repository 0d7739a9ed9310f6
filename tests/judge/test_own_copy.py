"""Inputs of cases are kept where no submission can write, and right answers follow from them."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from support.fake_sessions import CASE

from harness.judge import own_copy
from harness.judge.batch import Batch
from harness.judge.contents import GUARD
from harness.judge.layout import lay_out
from harness.judge.noted import Noted
from harness.judge.own_copy import OwnCopy
from harness.judge.task import Task
from harness.problem.sampling.footprint import CALLS


@contextmanager
def filled(task: Task, calls: int = CALLS) -> Iterator[Batch]:
    arena = task.device.arena(lay_out(task, CASE, calls, portable=True).size)
    try:
        batch = Batch(task, CASE, arena, calls, portable=True)
        batch.fill("seed")
        yield batch
    finally:
        arena.close()


def kept_copy(batch: Batch) -> OwnCopy:
    assert isinstance(batch._filling, OwnCopy)
    return batch._filling


def answer(batch: Batch) -> None:
    """Write right answers to what lies in the arena."""
    for call in range(batch.layout.calls):
        read = batch.filled(call)
        batch.outputs(call)["y"].copy_(read["x"] + CASE.scalars["s"])


def test_right_answers_are_right(shift_task: Task) -> None:
    with filled(shift_task) as batch:
        answer(batch)
        assert batch.check() is None


def test_what_is_changed_while_it_is_written_is_changed(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by work on the device that goes on: it sees inputs before any digest could be taken."""
    show = OwnCopy.show

    def shown_and_zeroed(own: OwnCopy) -> None:
        show(own)
        (slots,) = own._layout.constant
        slots.elements(own._layout.rows(own._shared, slots))[1].zero_()

    monkeypatch.setattr(OwnCopy, "show", shown_and_zeroed)
    with filled(shift_task) as batch:
        answer(batch)  # to zeros
        found = batch.check()
        assert found is not None
        assert (found.call, found.message) == (1, "50 of 50 elements of y are wrong")
        for call in range(CALLS):
            batch.outputs(call)["y"].copy_(batch.inputs(call)["x"] + CASE.scalars["s"])
        batch._bytes[batch.layout.constant[0].base] ^= 1
        found = batch.check()
        assert found is not None
        assert found.message == "const input x was changed (element 0)"


def test_what_is_put_back_is_as_it_was(shift_task: Task) -> None:
    with filled(shift_task) as batch:
        before = batch.bytes.clone()
        (slots,) = batch.layout.constant
        batch.layout.rows(batch.bytes, slots).zero_()
        assert batch._filling.first_change() is not None
        batch._filling.put_back()
        assert batch._filling.first_change() is None
        assert bool((batch.bytes == before).all())


def test_every_byte_is_written(shift_task: Task) -> None:
    """What the judge's memory held before is no submission's business."""
    with filled(shift_task) as batch:
        filling = kept_copy(batch)
        own = filling.bytes
        own.fill_(0x11)
        filling.seed = None
        batch.fill("other")
        again = own.clone()
        own.fill_(0x22)
        filling.seed = None
        batch.fill("other")
        assert bool((again == own).all())
        assert bool((own[: batch.layout.slots[0].base] == GUARD).all())


@pytest.mark.parametrize("calls", [2, 3])
def test_a_warm_up_reads_what_other_calls_will(shift_task: Task, calls: int) -> None:
    with filled(shift_task, calls) as batch:
        batch.fill_for_warm_up("warm-up", "next")
        warm = [batch.filled(call)["x"] for call in range(calls)]
        batch.fill("next")
        for call in range(calls):
            assert torch.equal(warm[call], batch.inputs((call + 1) % calls)["x"])
            assert not torch.equal(warm[call], batch.inputs(call)["x"])


def test_a_single_call_warms_up_with_inputs_of_its_own(shift_task: Task) -> None:
    with filled(shift_task, 1) as batch:
        batch.fill_for_warm_up("warm-up", "next")
        warm = batch.filled(0)["x"]
        batch.fill("next")
        assert not torch.equal(warm, batch.inputs(0)["x"])


def test_inputs_that_were_handed_out_stay_as_they_were(shift_task: Task) -> None:
    with filled(shift_task) as batch:
        first = batch.inputs(0)["x"]
        kept = first.clone()
        batch.fill("other")
        assert torch.equal(first, kept)
        batch.inputs(0)["x"].zero_()
        assert bool(batch.inputs(0)["x"].any())


@pytest.fixture
def large(shift_task: Task, monkeypatch: pytest.MonkeyPatch) -> Task:
    """Its batches have several slices."""
    monkeypatch.setattr(own_copy, "SLICE", 64)
    return shift_task


@pytest.mark.parametrize("room", [True, False])
def test_what_is_large_is_kept_where_there_is_room(
    large: Task, monkeypatch: pytest.MonkeyPatch, room: bool
) -> None:
    size = lay_out(large, CASE, CALLS, portable=True).size
    monkeypatch.setattr(large.device, "free_bytes", lambda: 16 * size - (not room))
    with filled(large) as batch:
        assert isinstance(batch._filling, OwnCopy if room else Noted)
        answer(batch)
        assert batch.check() is None
        (slots,) = batch.layout.outputs
        batch.bytes[slots.base + slots.bytes] ^= 1
        found = batch.check()
        assert found is not None
        assert found.message == "wrote out of bounds: 0 bytes after the end of y"


def test_every_changed_byte_of_what_is_large_is_found(large: Task) -> None:
    with filled(large) as batch:
        own = kept_copy(batch)
        assert own.first_change() is None
        (slots,) = batch.layout.constant
        end = batch.layout.end(slots)
        for place in range(slots.base, end, 5):
            batch.bytes[place] ^= 1
            batch.bytes[end - 1] ^= 2
            assert own.first_change() == place
            batch.bytes[place] ^= 1
            assert own.first_change() == end - 1
            batch.bytes[end - 1] ^= 2
        assert not own.untouched()  # it is not looked at as a whole


@pytest.mark.parametrize("few", [0, 1 << 20])
def test_what_is_written_is_the_same_by_way_of_the_host(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    with filled(shift_task) as batch:
        before = batch.bytes.clone()
    monkeypatch.setattr(own_copy, "FEW", few)
    with filled(shift_task) as batch:
        assert bool((batch.bytes == before).all())
        answer(batch)
        assert batch.check() is None


def test_only_elements_of_outputs_may_differ(shift_task: Task) -> None:
    with filled(shift_task) as batch:
        own = kept_copy(batch)
        answer(batch)
        assert own.untouched()
        outputs = [
            range(slots.base + call * slots.stride, slots.base + call * slots.stride + slots.bytes)
            for slots in batch.layout.outputs
            for call in range(CALLS)
        ]
        for place in range(0, batch.layout.size, 7):
            batch.bytes[place] ^= 1
            assert own.untouched() == any(place in each for each in outputs), place
            batch.bytes[place] ^= 1


def test_a_guard_that_was_written_to_is_named(shift_task: Task) -> None:
    with filled(shift_task) as batch:
        answer(batch)
        (slots,) = batch.layout.outputs
        batch.bytes[slots.base + slots.bytes + 3] ^= 1
        found = batch.check()
        assert found is not None
        assert found.message == "wrote out of bounds: 3 bytes after the end of y"
