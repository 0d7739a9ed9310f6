"""A runner's thread goes where it is told to, and back; others stay."""

import os
from concurrent.futures import ThreadPoolExecutor

from harness.runner.affinity import ThreadAffinity


def test_taken_and_left(anywhere: set[int]) -> None:
    seat = ThreadAffinity()
    seat.pin(max(anywhere))
    assert os.sched_getaffinity(0) == {max(anywhere)}
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere


def test_another_one_is_taken(anywhere: set[int]) -> None:
    seat = ThreadAffinity()
    for cpu in sorted(anywhere)[:2] * 2:
        seat.pin(cpu)
        assert os.sched_getaffinity(0) == {cpu}
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere


def test_one_that_may_not_be_taken_changes_nothing(anywhere: set[int]) -> None:
    seat = ThreadAffinity()
    seat.pin(4095)
    assert os.sched_getaffinity(0) == anywhere
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere


def test_threads_that_were_there_stay_where_they_like(anywhere: set[int]) -> None:
    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()
        seat = ThreadAffinity()
        seat.pin(min(anywhere))
        assert other.submit(os.sched_getaffinity, 0).result() == anywhere
        seat.unpin()
