"""Builds ahead of their turn, and a gate that keeps them away from times."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.lookahead import Gate, look_ahead

PATIENCE_S = 20.0


@given(count=st.integers(0, 20), most=st.integers(1, 8))
def test_so_many_are_begun_at_once(count: int, most: int) -> None:
    begun: list[int] = []
    seen = []
    for item, made in look_ahead(range(count), lambda each: begun.append(each) or -each, most):
        assert made == -item
        seen.append(item)
        assert len(begun) == min(count, (item // most + 1) * most)
    assert seen == begun == list(range(count))


def test_who_works_ends_before_the_gate_is_closed_and_nobody_begins() -> None:
    gate, inside, go_on = Gate(), threading.Event(), threading.Event()
    working: list[str] = []
    told: list[bool] = []

    def first() -> None:
        with gate.open():
            working.append("first")
            inside.set()
            go_on.wait(PATIENCE_S)
            working.remove("first")

    def second() -> None:
        with gate.open():
            working.append("second")

    def waiting() -> None:
        told.append(True)
        threads.submit(second)
        go_on.set()

    with ThreadPoolExecutor(2) as threads:
        threads.submit(first)
        assert inside.wait(PATIENCE_S)
        with gate.closed(waiting):
            assert told == [True]
            assert working == []
    assert working == ["second"]  # as soon as it was open again


def test_a_gate_that_nobody_is_in_closes_at_once_and_opens_after_an_error() -> None:
    gate = Gate()
    with pytest.raises(ValueError, match="no time"), gate.closed(lambda: pytest.fail("who?")):
        raise ValueError("no time")
    with pytest.raises(ValueError, match="no build"), gate.open():
        raise ValueError("no build")
    with gate.closed(), pytest.raises(ZeroDivisionError):
        _ = 1 / 0
    with gate.open():
        pass
