"""A runner's thread goes where it is told to, and back; others stay."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.runner.seat import Seat


@pytest.fixture
def before() -> Iterator[set[int]]:
    """The processors that this thread may use, also after."""
    found = os.sched_getaffinity(0)
    yield found
    os.sched_setaffinity(0, found)


def test_taken_and_left(before: set[int]) -> None:
    seat = Seat()
    seat.take(max(before))
    assert os.sched_getaffinity(0) == {max(before)}
    seat.leave()
    assert os.sched_getaffinity(0) == before
    seat.leave()
    assert os.sched_getaffinity(0) == before


def test_another_one_is_taken(before: set[int]) -> None:
    seat = Seat()
    for cpu in sorted(before)[:2] * 2:
        seat.take(cpu)
        assert os.sched_getaffinity(0) == {cpu}
    seat.leave()
    assert os.sched_getaffinity(0) == before


def test_one_that_may_not_be_taken_changes_nothing(before: set[int]) -> None:
    seat = Seat()
    seat.take(4095)
    assert os.sched_getaffinity(0) == before
    seat.leave()
    assert os.sched_getaffinity(0) == before


def test_threads_that_were_there_stay_where_they_like(before: set[int]) -> None:
    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()
        seat = Seat()
        seat.take(min(before))
        assert other.submit(os.sched_getaffinity, 0).result() == before
        seat.leave()
