"""Sizing, stopping and pairing, with sessions that are made up."""

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fake_sessions import BUDGET, CASE, FAULT, FakeBlank, FakeSession, contender

from harness.device.base import Arena, Device
from harness.judge.batch import lay_out
from harness.judge.task import Task
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.timing import measure
from harness.timing.audit import IdleBaseline
from harness.timing.budget import CPU_BUDGET, TimingBudget
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.measure import choose_calls, measure_shape, with_baseline
from harness.timing.statistics import Timed
from harness.timing.timed_program import BaselineError, TimedProgram


def measured(
    task: Task,
    submission: FakeSession,
    baseline: FakeSession,
    budget: TimingBudget = BUDGET,
    blank: FakeBlank | None = None,
) -> Measurement | Fault:
    return measure_shape(
        task, CASE, contender(task, submission), contender(task, baseline, trusted=True),
        budget, cast(OverheadProbe, blank or FakeBlank(1e-4)), lambda _: None,
    )  # fmt: skip


def one_of(estimated_call_s: float) -> FakeSession:
    """Whose batches cost what a blank one of 0.3 ms does."""
    return FakeSession(estimated_call_s, constant=3e-4)


class TestChooseCalls:
    def test_enough_to_drown_the_constant(self) -> None:
        assert choose_calls(1e-3, 0.0, 100, BUDGET) == 20
        assert choose_calls(0.7e-3, 0.0, 100, BUDGET) == 29
        assert choose_calls(5.0, 0.0, 100, BUDGET) == 1

    def test_never_more_than_the_limit(self) -> None:
        assert choose_calls(0.0, 0.0, 10**6, BUDGET) == BUDGET.max_calls

    def test_never_more_than_there_is_room_for(self) -> None:
        assert choose_calls(1e-9, 0.0, 3, BUDGET) == 3
        assert choose_calls(1e-9, 0.0, 0, BUDGET) == 1

    def test_no_more_than_there_is_time_to_check(self) -> None:
        budget = replace(BUDGET, max_block_s=0.2, min_batch_s=0.005)
        assert choose_calls(1e-3, 20e-3, 100, budget) == 10
        assert choose_calls(1e-3, 5e-3, 100, budget) == 20
        assert choose_calls(1e-3, 200e-3, 100, budget) == 5

    @given(seconds=st.floats(0, 1e3), all_s=st.floats(0, 1e3), room=st.integers(0, 10**6))
    @pytest.mark.parametrize("budget", [TimingBudget(), TimingBudget().quick(), CPU_BUDGET])
    def test_always_a_sensible_number(
        self, budget: TimingBudget, seconds: float, all_s: float, room: int
    ) -> None:
        assert 1 <= choose_calls(seconds, all_s, room, budget) <= budget.max_calls


class Checked(FakeSession):
    """To check a call takes long: always, or the ``first`` time."""

    def __init__(self, all_s: float, *, first: bool) -> None:
        super().__init__(1e-3)
        self.all_s, self.first = all_s, first

    def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
        if not self.first or not self.batches:
            time.sleep(self.all_s * batch.layout.calls)
        return super().run(batch, seed, stop=stop)


@pytest.mark.parametrize(("first", "calls"), [(False, range(5, 11)), (True, range(15, 25))])
def test_batches_are_shorter_where_checks_take_long(
    shift_task: Task, *, first: bool, calls: range
) -> None:
    budget = replace(BUDGET, max_block_s=0.05, min_batch_s=0.005)
    result = measured(shift_task, Checked(5e-3, first=first), FakeSession(1e-3), budget)
    assert isinstance(result, Measurement)
    assert result.calls_per_batch in calls


def _samples(half: float, blocks: int) -> tuple[list[Timed], list[Timed]]:
    """Ratios that swing so much that the interval's half-width is about ``half``."""
    swing = half * math.sqrt(blocks) / 2.2
    swings = [Timed(math.exp(swing * (-1) ** i)) for i in range(blocks)]
    return [Timed(1.0)] * blocks, swings


class TestEnough:
    budget = TimingBudget(
        min_blocks=5,
        max_blocks=40,
        target_rel_ci=0.002,
        extend_rel_ci=0.01,
        budget_s=1.0,
        max_s=4.0,
    )

    @pytest.mark.parametrize(
        ("half", "blocks", "spent", "enough"),
        [
            (0.0, 4, 100.0, False),  # never fewer than five
            (0.0, 5, 0.0, True),
            (0.001, 10, 0.0, True),  # tight
            (0.005, 10, 0.5, False),  # could be tighter, and there is time
            (0.005, 10, 1.5, True),
            (0.05, 10, 1.5, False),  # too wide: be patient
            (0.05, 10, 4.5, True),
            (0.05, 40, 0.0, True),  # but never without end
        ],
    )
    def test_when(self, half: float, blocks: int, spent: float, enough: bool) -> None:
        assert measure._enough(_samples(half, blocks), spent, self.budget) is enough


class TestShape:
    def test_the_constant_is_taken_off(self, shift_task: Task) -> None:
        fast = FakeSession(1e-3, constant=1e-4)
        slow = FakeSession(3e-3, constant=1e-4)
        result = measured(shift_task, fast, slow)
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(1e-3)
        assert result.baseline_s.value == pytest.approx(3e-3)
        assert result.speedup.value == pytest.approx(3.0)
        assert result.calls_per_batch == 20
        assert (result.flops, result.bytes) == (50.0, 400.0)
        assert len(result.samples_s) == len(result.baseline_samples_s) == BUDGET.min_blocks
        assert result.spec == CASE.spec

    def test_kernels_are_the_sessions(self, shift_task: Task) -> None:
        one, three = FakeSession(), FakeSession()
        one.kernels, three.kernels = 1.0, 3.0
        result = measured(shift_task, one, three)
        assert isinstance(result, Measurement)
        assert (result.kernels, result.baseline_kernels) == (1.0, 3.0)
        unknown = measured(shift_task, FakeSession(), three)
        assert isinstance(unknown, Measurement)
        assert unknown.kernels is None

    def test_no_two_batches_of_a_submission_have_the_same_inputs(self, shift_task: Task) -> None:
        session = FakeSession()
        assert isinstance(measured(shift_task, session, FakeSession()), Measurement)
        seeds = [seed for _, seed in session.batches]
        assert len(set(seeds)) == len(seeds)

    def test_order_changes_from_block_to_block(
        self, shift_task: Task, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        order: list[str] = []

        class Told(FakeSession):
            def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
                order.append(type(self).__name__)
                return super().run(batch, seed, stop=stop)

        class A(Told): ...

        class B(Told): ...

        assert isinstance(measured(shift_task, A(), B()), Measurement)
        assert "".join(order).endswith("ABBAABBAAB")

    def test_noise_widens_the_interval_and_costs_blocks(self, shift_task: Task) -> None:
        def noise() -> Iterator[float]:
            while True:
                yield from (0.05, -0.05, 0.03, -0.04)

        budget = replace(BUDGET, max_s=60.0)
        quiet = measured(shift_task, FakeSession(), FakeSession(), budget)
        noisy = measured(shift_task, FakeSession(noise=noise()), FakeSession(), budget)
        assert isinstance(quiet, Measurement)
        assert isinstance(noisy, Measurement)
        assert len(noisy.samples_s) == BUDGET.max_blocks > len(quiet.samples_s)
        assert noisy.speedup.high / noisy.speedup.low > 1.01
        assert quiet.speedup.high == pytest.approx(quiet.speedup.low)

    @pytest.mark.parametrize("point", ["map", "prepare", "run"])
    def test_a_fault_ends_it(self, shift_task: Task, point: str) -> None:
        assert measured(shift_task, FakeSession(fails=point), FakeSession()) == FAULT

    def test_wrong_outputs_end_it(self, shift_task: Task) -> None:
        result = measured(shift_task, FakeSession(writes=False), FakeSession())
        assert isinstance(result, Fault)
        assert result.verdict is Verdict.WRONG_ANSWER
        assert "in call 1 of" in result.message

    def test_a_trusted_ones_outputs_are_not_checked(self, shift_task: Task) -> None:
        result = measured(shift_task, FakeSession(), FakeSession(writes=False))
        assert isinstance(result, Measurement)

    @pytest.mark.parametrize("point", ["map", "prepare", "run"])
    def test_a_baselines_fault_is_no_verdict(self, shift_task: Task, point: str) -> None:
        with pytest.raises(BaselineError, match="the baseline failed: "):
            measured(shift_task, FakeSession(), FakeSession(fails=point))

    def test_a_further_baseline_stands_beside_the_first(self, shift_task: Task) -> None:
        first = measured(shift_task, FakeSession(1e-3), FakeSession(2e-3))
        second = measured(shift_task, FakeSession(1e-3), FakeSession(5e-3))
        assert isinstance(first, Measurement)
        assert isinstance(second, Measurement)
        (both,) = with_baseline([first], "fused", [second])
        assert both.speedup == first.speedup
        (other,) = both.other_baselines
        assert other.baseline == "fused"
        assert other.time_s.value == pytest.approx(5e-3, rel=0.01)
        assert other.speedup.value == pytest.approx(5.0, rel=0.01)
        (three,) = with_baseline([both], "third", [first])
        assert [each.baseline for each in three.other_baselines] == ["fused", "third"]

    def test_a_time_below_the_constant_is_still_positive(self, shift_task: Task) -> None:
        budget = replace(BUDGET, max_calls=4)
        result = measured(shift_task, FakeSession(1e-9), FakeSession(), budget)
        assert isinstance(result, Measurement)
        assert 0 < result.time_s.value < 1e-8

    def test_a_blank_batch_goes_before_each_contenders(self, shift_task: Task) -> None:
        blank = FakeBlank(3e-4)
        result = measured(shift_task, one_of(1e-3), one_of(4e-3), BUDGET, blank)
        assert isinstance(result, Measurement)
        assert blank.filled[:2] == [(20, blank.filled[0][1]), (5, blank.filled[0][1])]
        assert blank.settled[:3] == [0, 1, 2]
        assert len(blank.filled) == 2 * BUDGET.min_blocks
        assert blank.lasting_s == pytest.approx([20e-3] * len(blank.filled), rel=0.02)
        assert (result.launch_overhead_s, result.baseline_launch_overhead_s) == pytest.approx(
            (3e-4, 3e-4)
        )
        assert result.speedup.value == pytest.approx(4.0)
        assert result.samples_s == pytest.approx([1e-3] * BUDGET.min_blocks)

    def test_one_blank_batch_is_enough_where_both_have_as_many_calls(
        self, shift_task: Task
    ) -> None:
        blank = FakeBlank(3e-4)
        result = measured(shift_task, one_of(1e-3), one_of(1e-3), BUDGET, blank)
        assert isinstance(result, Measurement)
        assert blank.settled[:3] == [0, 1, 1]  # before each of both
        assert len(blank.filled) == BUDGET.min_blocks
        assert (result.launch_overhead_s, result.baseline_launch_overhead_s) == pytest.approx(
            (3e-4, 3e-4)
        )

    @pytest.mark.parametrize(
        ("baseline_s", "turns"), [(3e-3, [5e-3, 15e-3, 15e-3, 5e-3]), (1.8e-3, [7e-3])]
    )
    def test_a_blank_batch_lasts_as_long_as_the_calls(
        self, shift_task: Task, baseline_s: float, turns: list[float]
    ) -> None:
        """Or as the mean of both, if they take about as long."""
        blank = FakeBlank(3e-4)
        budget = replace(BUDGET, max_calls=5)
        result = measured(shift_task, one_of(1e-3), one_of(baseline_s), budget, blank)
        assert isinstance(result, Measurement)
        count = (1 if len(turns) == 1 else 2) * BUDGET.min_blocks
        assert [calls for calls, _ in blank.filled] == [5] * count
        wanted = (turns * count)[:count]
        assert blank.lasting_s == pytest.approx(wanted, rel=0.02)

    @pytest.mark.parametrize(("null_batch_s", "lasting_s"), [(4e-3, 4e-3), (0.0, 0.0)])
    def test_but_no_longer_than_is_worth_it(
        self, shift_task: Task, null_batch_s: float, lasting_s: float
    ) -> None:
        """One is enough for both then."""
        blank = FakeBlank(3e-4)
        budget = replace(BUDGET, max_calls=5, null_batch_s=null_batch_s)
        result = measured(shift_task, one_of(1e-3), one_of(2e-3), budget, blank)
        assert isinstance(result, Measurement)
        assert blank.lasting_s == [lasting_s] * BUDGET.min_blocks

    @pytest.mark.parametrize(
        ("idle_after_s", "counted_s"), [(0.0, 4e-4), (1e-4, 3e-4), (3.9e-4, 2e-4), (9e-4, 2e-4)]
    )
    def test_what_probes_take_after_a_batch_of_ours_is_no_work(
        self, shift_task: Task, idle_after_s: float, counted_s: float
    ) -> None:
        """But for two tenths of a millisecond at most: something may have kept ours waiting."""
        blank = FakeBlank(0.0)
        blank.after_s = idle_after_s
        session = FakeSession(1e-3)
        session.probes = (0.0, 4e-4)
        one = TimedProgram(
            cast(Session, session),
            shift_task,
            trusted=False,
            capture=False,
            usual=IdleBaseline(0.0, 0.0),
        )
        result = measure_shape(
            shift_task, CASE, one, contender(shift_task, FakeSession(1e-3), trusted=True),
            replace(BUDGET, max_calls=10), cast(OverheadProbe, blank), lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(1e-3 + counted_s / 10)

    def test_what_was_timed_before_takes_no_room(self, shift_task: Task) -> None:
        """Each shape gets a share of all memory, though the one before has its arenas still."""
        buffer = lay_out(shift_task, CASE, 1).size

        class Small(Device):
            left = 400 * buffer

            def arena(self, size: int) -> Arena:
                made = super().arena(size)
                self.left -= made.size
                close = made.close

                def give_back() -> None:
                    self.left += made.size
                    close()

                made.close = give_back  # type: ignore[method-assign]
                return made

            def free_bytes(self) -> int:
                return self.left

        task = replace(shift_task, device=Small())
        pair = [contender(task, FakeSession(1e-5), trusted=trusted) for trusted in (False, True)]
        budget = replace(BUDGET, memory_share=0.2)
        calls = []
        for _ in range(3):
            shape = measure_shape(task, CASE, *pair, budget, None, lambda _: None)
            assert isinstance(shape, Measurement)
            calls += [each.calls for each in pair]
        assert calls == [80] * 6

    def test_where_nothing_is_known_of_the_constant_nothing_is_taken_off(
        self, shift_task: Task
    ) -> None:
        result = measure_shape(
            shift_task, CASE, contender(shift_task, FakeSession(1e-3, constant=1e-3)),
            contender(shift_task, FakeSession(), trusted=True), BUDGET, None, lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert result.launch_overhead_s == 0.0
        assert result.time_s.value == pytest.approx(1.1e-3)


class TestHeldToAccount:
    """What a submission does before and beside the batches that count gains it nothing."""

    @pytest.mark.parametrize("slow", [1, 3])
    def test_who_is_slow_while_batches_are_sized_is_timed_in_long_ones(
        self, shift_task: Task, slow: int
    ) -> None:
        class Sly(FakeSession):
            """Of each batch 0.2 ms does not show, which is much of a batch of one call."""

            def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
                self.per_call = 0.1 if len(self.batches) < slow else 1e-3
                seconds = super().run(batch, seed, stop=stop)
                return seconds if isinstance(seconds, Fault) else seconds - 2e-4

        session = Sly(constant=1e-4)
        result = measured(shift_task, session, FakeSession(2e-3, constant=1e-4))
        assert isinstance(result, Measurement)
        assert result.calls_per_batch >= 20
        assert result.time_s.value == pytest.approx(1e-3, rel=0.011)
        assert len(result.samples_s) == BUDGET.min_blocks
        seeds = [seed for _, seed in session.batches]
        assert len(set(seeds)) == len(seeds)

    def test_the_batches_of_a_baseline_that_had_to_wait_are_long_as_well(
        self, shift_task: Task
    ) -> None:
        class Kept(FakeSession):
            def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
                seconds = super().run(batch, seed, stop=stop)
                return seconds if len(self.batches) > 1 else 0.1

        result = measured(shift_task, FakeSession(), beside := Kept(2e-3, constant=1e-4))
        assert isinstance(result, Measurement)
        assert beside.batches[-1][0] == 10

    usual = IdleBaseline(before_s=4e-5, after_s=2e-4)

    def beside(
        self, task: Task, baseline: FakeSession, blank: FakeBlank | None = None
    ) -> Measurement | Fault:
        pair = [
            TimedProgram(cast(Session, one), task, trusted=trusted, capture=False, usual=self.usual)
            for one, trusted in ((FakeSession(2e-3), False), (baseline, True))
        ]
        blank = blank or FakeBlank(0.0)
        budget = replace(BUDGET, max_blocks=40)
        return measure_shape(
            task, CASE, pair[0], pair[1], budget, cast(OverheadProbe, blank), lambda _: None
        )

    @pytest.mark.parametrize("always", [False, True])
    def test_what_keeps_the_baseline_waiting_does_not_count(
        self, shift_task: Task, *, always: bool
    ) -> None:
        """A kernel that was left behind has half of the device: most batches take twice as long."""
        busy = itertools.cycle([True] if always else [True, True, True, False])

        class Kept(FakeSession):
            def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
                seconds = super().run(batch, seed, stop=stop)
                self.probes = (2.4e-3 if (kept := next(busy)) else 4e-5, 2e-4)
                assert not isinstance(seconds, Fault)
                return 2 * seconds if kept else seconds

        result = self.beside(shift_task, Kept(2e-3))
        if always:
            assert isinstance(result, Fault)
            assert (result.verdict, result.shared) == (Verdict.REJECTED, True)
        else:
            assert isinstance(result, Measurement)
            assert result.speedup.value == pytest.approx(1.0)

    def test_what_keeps_a_blank_batch_waiting_is_not_taken_off(self, shift_task: Task) -> None:
        class Kept(FakeBlank):
            late = False

            def time(self, batch: Any, seed: str, lasting_s: float) -> float:
                super().time(batch, seed, lasting_s)
                self.late = len(self.filled) % 4 != 0
                return 1e-2 if self.late else 0.0

            def started_early_fault(self) -> Fault | None:
                return FAULT if self.late else None

        result = self.beside(shift_task, FakeSession(2e-3), Kept(0.0))
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(2e-3)
        assert result.launch_overhead_s == 0.0
