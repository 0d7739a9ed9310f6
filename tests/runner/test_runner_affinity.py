"""A runner's thread goes where it is told to, and back; others stay."""

import os
from concurrent.futures import ThreadPoolExecutor

from harness.runner.main import ThreadAffinity


def test_unpin_restores_what_pin_changed(anywhere: set[int]) -> None:
    seat = ThreadAffinity()
    seat.pin(max(anywhere))
    assert os.sched_getaffinity(0) == {max(anywhere)}
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere


def test_pin_moves_to_another_processor(anywhere: set[int]) -> None:
    seat = ThreadAffinity()
    for cpu in sorted(anywhere)[:2] * 2:
        seat.pin(cpu)
        assert os.sched_getaffinity(0) == {cpu}
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere


def test_pin_to_a_forbidden_processor_changes_nothing(anywhere: set[int]) -> None:
    seat = ThreadAffinity()
    seat.pin(4095)
    assert os.sched_getaffinity(0) == anywhere
    seat.unpin()
    assert os.sched_getaffinity(0) == anywhere


def test_pin_moves_no_other_thread(anywhere: set[int]) -> None:
    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()
        seat = ThreadAffinity()
        seat.pin(min(anywhere))
        assert other.submit(os.sched_getaffinity, 0).result() == anywhere
        seat.unpin()
