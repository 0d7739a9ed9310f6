"""What is taken of outputs when a submission says that it is done."""

import pytest
import torch

from harness.judge.receipt import Receipt

CALLS, STRIDE, SIZE, BASE = 16, 4608, 4000, 512


@pytest.fixture
def data() -> torch.Tensor:
    return torch.zeros(BASE + 2 * CALLS * STRIDE, dtype=torch.uint8)


def receipt_of(data: torch.Tensor) -> Receipt:
    spans = [(BASE, STRIDE, SIZE), (BASE + CALLS * STRIDE, STRIDE, 12)]
    receipt = Receipt(data, spans, CALLS)
    receipt.draw()
    return receipt


def test_nothing_has_changed_where_nothing_was_written(data: torch.Tensor) -> None:
    receipt = receipt_of(data)
    receipt.take()
    assert receipt.first_change() is None


def test_what_was_written_before_it_is_taken_is_no_change(data: torch.Tensor) -> None:
    receipt = receipt_of(data)
    data.fill_(7)
    receipt.take()
    assert receipt.first_change() is None


@pytest.mark.parametrize("output", [0, 1])
@pytest.mark.parametrize("call", [0, 7, CALLS - 1])
def test_an_output_that_is_written_late_is_found(
    data: torch.Tensor, output: int, call: int
) -> None:
    receipt = receipt_of(data)
    receipt.take()
    start = BASE + output * CALLS * STRIDE + call * STRIDE
    data[start : start + (SIZE, 12)[output]] = 7
    assert receipt.first_change() == call


def test_places_are_new_each_time_and_secret(data: torch.Tensor) -> None:
    receipt, other = receipt_of(data), receipt_of(data)
    first = receipt._places
    assert not torch.equal(first, other._places)
    receipt.draw()
    assert not torch.equal(first, receipt._places)
    assert first.shape == receipt._places.shape
    assert len(first) >= 2 * 4 * CALLS


def test_places_lie_in_outputs_alone(data: torch.Tensor) -> None:
    places = receipt_of(data)._places * 8
    inside = (places - BASE) % STRIDE
    assert int(places.min()) >= BASE
    assert int(places.max()) < len(data)
    assert bool((inside < SIZE).all())
