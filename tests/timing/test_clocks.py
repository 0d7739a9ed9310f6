"""Blocks whose programs saw different clocks, with a monitor that is made up."""

import itertools
from collections.abc import Iterable, Iterator
from typing import cast

import pytest
from support.fake_sessions import BUDGET, CASE, FakeOverheadProbe, FakeSession, fake_program

from harness.device.base import ClockReading
from harness.judge.task import Task
from harness.records.measurement import Clocks, Conditions, Measurement
from harness.timing.clocks import MAX_RETAKEN, alike, clock_note, seen
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.measure import measure_shape

NAMES = ("the submission", "the baseline")


def at(sm_mhz: int, memory_mhz: int = 2619, *, capped: bool = False) -> ClockReading:
    return ClockReading(sm_mhz=sm_mhz, memory_mhz=memory_mhz, capped=capped)


class Watch:
    """Sees these clocks, one after each batch that counts; ``asked`` is how often.

    Before, each program has one batch that finds its size.
    """

    def __init__(self, readings: Iterable[ClockReading | None]) -> None:
        self.readings: Iterator[ClockReading | None] = itertools.chain([None] * 2, readings)
        self.asked = 0

    def read(self) -> None: ...

    def conditions(self) -> Conditions | None:
        return None

    def clocks(self) -> ClockReading | None:
        self.asked += 1
        return next(self.readings)


def measured(task: Task, watch: Watch | None) -> tuple[Measurement, int]:
    """The measurement, and how many blocks it took but for those of sizing."""
    session = FakeSession()
    found = measure_shape(
        task, CASE, fake_program(task, session, monitor=watch),
        fake_program(task, FakeSession(), trusted=True, monitor=watch),
        BUDGET, cast(OverheadProbe, FakeOverheadProbe(1e-4)), lambda _: None,
    )  # fmt: skip
    assert isinstance(found, Measurement)
    return found, sum("/size/" not in seed for _, seed in session.batches)


class TestAlike:
    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            (at(1980), at(1980), True),
            (at(1980), at(1971), True),
            (at(1980), at(1965), False),  # one step
            (at(1965), at(1980), False),
            (at(1980), at(1980, 1593), False),
            (at(1980), at(1410, capped=True), True),  # a full load runs into the cap
            (at(1410, capped=True), at(1980), True),
            (at(1980), None, True),
            (None, at(1980), True),
            (None, None, True),
        ],
    )
    def test_two_saw_the_same(
        self, one: ClockReading | None, other: ClockReading | None, *, same: bool
    ) -> None:
        assert alike((one, other)) is same


class TestShape:
    def test_without_a_monitor_nothing_is_said(self, shift_task: Task) -> None:
        found, blocks = measured(shift_task, None)
        assert found.clocks is None
        assert blocks == BUDGET.min_blocks

    def test_a_monitor_that_knows_nothing_says_nothing(self, shift_task: Task) -> None:
        found, blocks = measured(shift_task, Watch(itertools.repeat(None)))
        assert found.clocks is None
        assert blocks == BUDGET.min_blocks

    def test_it_is_asked_once_after_each_batch(self, shift_task: Task) -> None:
        watch = Watch(itertools.repeat(at(1980)))
        found, blocks = measured(shift_task, watch)
        assert watch.asked == 2 * (blocks + 1)
        assert blocks == BUDGET.min_blocks
        assert found.clocks == Clocks(
            sm_mhz=(1980, 1980),
            baseline_sm_mhz=(1980, 1980),
            memory_mhz=(2619, 2619),
            baseline_memory_mhz=(2619, 2619),
            blocks=BUDGET.min_blocks,
            blocks_apart=0,
        )

    def test_blocks_in_which_the_clock_changed_are_taken_again(self, shift_task: Task) -> None:
        """Two states, with a change in the middle of a block, twice."""
        states = [at(1980)] * 3 + [at(1905)] * 4 + [at(1980)] * 100
        found, blocks = measured(shift_task, Watch(states))
        assert blocks == BUDGET.min_blocks + 2
        assert found.clocks is not None
        assert (found.clocks.blocks, found.clocks.blocks_apart) == (BUDGET.min_blocks, 0)
        assert found.clocks.sm_mhz == found.clocks.baseline_sm_mhz == (1905, 1980)
        assert len(found.samples_s) == len(found.baseline_samples_s) == BUDGET.min_blocks
        assert clock_note("n=1", found.clocks, NAMES) == ""

    def test_clocks_that_stay_apart_are_said(self, shift_task: Task) -> None:
        """The order is A B, B A: the submission always sees the lower clock."""
        turns = itertools.cycle([at(1905), at(1980), at(1980), at(1905)])
        found, blocks = measured(shift_task, Watch(turns))
        assert blocks == BUDGET.min_blocks + MAX_RETAKEN
        assert found.clocks == Clocks(
            sm_mhz=(1905, 1905),
            baseline_sm_mhz=(1980, 1980),
            memory_mhz=(2619, 2619),
            baseline_memory_mhz=(2619, 2619),
            blocks=BUDGET.min_blocks,
            blocks_apart=BUDGET.min_blocks,
        )
        assert clock_note("n=1", found.clocks, NAMES) == (
            "n=1: in 5 of 5 blocks the card's clocks were not the same for both, though blocks "
            "were taken again: 1905 (memory 2619) MHz after the submission, 1980 (memory 2619) "
            "MHz after the baseline"
        )

    def test_a_load_at_the_power_cap_is_not_taken_again(self, shift_task: Task) -> None:
        turns = itertools.cycle([at(1905, capped=True), at(1980), at(1980), at(1905, capped=True)])
        found, blocks = measured(shift_task, Watch(turns))
        assert blocks == BUDGET.min_blocks
        assert found.clocks is not None
        assert found.clocks.blocks_apart == 0
        assert (found.clocks.sm_mhz, found.clocks.baseline_sm_mhz) == ((1905, 1905), (1980, 1980))


def test_isolated_calls_are_not_held_up_by_readings(shift_task: Task) -> None:
    watch = Watch(itertools.repeat(at(1980)))
    program = fake_program(shift_task, FakeSession(), monitor=watch)
    assert program.setup(CASE, 1) is None
    program.time("0", awake=True)
    assert (watch.asked, program.clocks) == (0, None)
    program.time("1")
    assert watch.asked == 1


def test_a_few_blocks_apart_are_no_news() -> None:
    same, apart = (at(1980), at(1980)), (at(1980), at(1905))
    assert clock_note("n=1", seen([same] * 3 + [apart]), NAMES) == ""
    assert "in 2 of 5 blocks" in clock_note("n=1", seen([same] * 3 + [apart] * 2), NAMES)
    assert "1905–1980 (memory 2619) MHz after the baseline" in clock_note(
        "n=1", seen([same] * 3 + [apart] * 2), NAMES
    )
    assert clock_note("n=1", None, NAMES) == ""


def test_blocks_without_a_reading_of_both_are_not_in_the_record() -> None:
    assert seen([(at(1980), None), (None, None)]) is None
    found = seen([(at(1000), None), (at(1980), at(1965))])
    assert found is not None
    assert (found.blocks, found.sm_mhz) == (1, (1980, 1980))
