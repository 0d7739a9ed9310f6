"""Sizing, stopping and pairing, with sessions that are made up."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from support.fake_sessions import (
    BUDGET,
    CASE,
    FAULT,
    FakeOverheadProbe,
    FakeSession,
    fake_program,
)

from harness.device.base import Arena
from harness.device.cpu import CpuDevice
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.sampling.footprint import beside_arena
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.timing import measure, timed_program
from harness.timing.audit import IdleBaseline
from harness.timing.budget import TimingBudget
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.measure import measure_shape, with_baseline
from harness.timing.statistics import Timed
from harness.timing.timed_program import BaselineError, CallSize, KeptTimes, TimedProgram


def measured(
    task: Task,
    submission: FakeSession,
    baseline: FakeSession,
    budget: TimingBudget = BUDGET,
    overhead: FakeOverheadProbe | None = None,
) -> Measurement | Fault:
    return measure_shape(
        task, CASE, fake_program(task, submission), fake_program(task, baseline, trusted=True),
        budget, cast(OverheadProbe, overhead or FakeOverheadProbe(1e-4)), lambda _: None,
    )  # fmt: skip


def session_of(estimated_call_s: float) -> FakeSession:
    """A session whose batches have the overhead of a null batch of 0.3 ms."""
    return FakeSession(estimated_call_s, constant=3e-4)


def probed_late(
    task: Task, after_s: float, idle_after_s: float, budget: TimingBudget
) -> tuple[Measurement, FakeOverheadProbe]:
    """Calls of 1 ms, after which a probe takes so long, and ``idle_after_s`` after a null batch."""
    overhead = FakeOverheadProbe(0.0)
    overhead.after_s = idle_after_s
    session = FakeSession(1e-3)
    session.probes = (0.0, after_s)
    submission = fake_program(task, session, idle=IdleBaseline(0.0, 0.0))
    result = measure_shape(
        task, CASE, submission, fake_program(task, FakeSession(1e-3), trusted=True),
        budget, cast(OverheadProbe, overhead), lambda _: None,
    )  # fmt: skip
    assert isinstance(result, Measurement)
    return result, overhead


class Checked(FakeSession):
    """To check a call takes long, by a clock that is made up: always, or the ``first`` time."""

    def __init__(self, all_s: float, *, first: bool) -> None:
        super().__init__(1e-3)
        self.all_s, self.first = all_s, first
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def run(self, batch: Any, seed: str, *, stop: bool = True, **options: Any) -> float | Fault:
        if not self.first or not self.batches:
            self.now += self.all_s * batch.layout.calls
        return super().run(batch, seed, stop=stop, **options)


@pytest.mark.parametrize(("first", "calls"), [(False, 10), (True, 23)])
def test_batches_are_shorter_where_checks_take_long(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch, *, first: bool, calls: int
) -> None:
    budget = replace(BUDGET, max_block_s=0.05, min_batch_s=0.005)
    session = Checked(5e-3, first=first)
    monkeypatch.setattr(timed_program, "time", session)
    result = measured(shift_task, session, FakeSession(1e-3), budget)
    assert isinstance(result, Measurement)
    assert result.calls_per_batch == calls


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
        max_ranked_rel_ci=0.03,
        ranked_s=9.0,
    )

    @pytest.mark.parametrize(
        ("half", "blocks", "spent", "enough"),
        [
            (0.0, 4, 100.0, False),  # never fewer than five
            (0.0, 5, 0.0, True),
            (0.001, 10, 0.0, True),  # tight
            (0.005, 10, 0.5, False),  # could be tighter, and there is time
            (0.005, 10, 1.5, True),
            (0.015, 10, 1.5, False),  # too wide: be patient
            (0.015, 10, 4.5, True),
            (0.05, 10, 4.5, False),  # too wide to be ranked: more so
            (0.05, 10, 9.5, True),
            (0.05, 40, 0.0, True),  # but never without end
        ],
    )
    def test_enough_follows_width_blocks_and_time(
        self, half: float, blocks: int, spent: float, enough: bool
    ) -> None:
        assert measure.enough(_samples(half, blocks), spent, self.budget) is enough


class TestShape:
    def test_launch_overhead_is_subtracted(self, shift_task: Task) -> None:
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

    def test_kernels_per_call_are_those_of_the_session(self, shift_task: Task) -> None:
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
            def run(
                self, batch: Any, seed: str, *, stop: bool = True, **options: Any
            ) -> float | Fault:
                order.append(type(self).__name__)
                return super().run(batch, seed, stop=stop, **options)

        class A(Told): ...

        class B(Told): ...

        assert isinstance(measured(shift_task, A(), B()), Measurement)
        assert "".join(order).endswith("ABBAABBAAB")

    def test_noise_widens_the_interval_and_costs_blocks(self, shift_task: Task) -> None:
        def noise() -> Iterator[float]:
            while True:
                yield from (0.05, -0.05, 0.03, -0.04)

        budget = replace(BUDGET, max_s=60.0)
        steady = measured(shift_task, FakeSession(), FakeSession(), budget)
        noisy = measured(shift_task, FakeSession(noise=noise()), FakeSession(), budget)
        assert isinstance(steady, Measurement)
        assert isinstance(noisy, Measurement)
        assert len(noisy.samples_s) == BUDGET.max_blocks > len(steady.samples_s)
        assert noisy.speedup.high / noisy.speedup.low > 1.01
        assert steady.speedup.high == pytest.approx(steady.speedup.low)

    @pytest.mark.parametrize("point", ["map", "prepare", "run"])
    def test_a_fault_of_the_submission_ends_the_measurement(
        self, shift_task: Task, point: str
    ) -> None:
        assert measured(shift_task, FakeSession(fails=point), FakeSession()) == replace(
            FAULT, whose="submission"
        )

    def test_wrong_outputs_end_the_measurement(self, shift_task: Task) -> None:
        result = measured(shift_task, FakeSession(writes=False), FakeSession())
        assert isinstance(result, Fault)
        assert result.verdict is Verdict.WRONG_ANSWER
        assert "in call 1 of" in result.message

    def test_outputs_of_a_trusted_program_are_not_checked(self, shift_task: Task) -> None:
        result = measured(shift_task, FakeSession(), FakeSession(writes=False))
        assert isinstance(result, Measurement)

    @pytest.mark.parametrize("point", ["map", "prepare", "run"])
    def test_a_fault_of_the_baseline_is_a_baseline_error(
        self, shift_task: Task, point: str
    ) -> None:
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

    def test_a_time_below_the_overhead_is_still_positive(self, shift_task: Task) -> None:
        budget = replace(BUDGET, max_calls=4)
        result = measured(shift_task, FakeSession(1e-9), FakeSession(), budget)
        assert isinstance(result, Measurement)
        assert 0 < result.time_s.value < 1e-8

    def test_a_null_batch_goes_before_each_programs_batch(self, shift_task: Task) -> None:
        overhead = FakeOverheadProbe(3e-4)
        result = measured(shift_task, session_of(1e-3), session_of(4e-3), BUDGET, overhead)
        assert isinstance(result, Measurement)
        assert overhead.filled[:2] == [(20, overhead.filled[0][1]), (5, overhead.filled[0][1])]
        assert overhead.warmed_up[:3] == [0, 1, 2]
        assert len(overhead.filled) == 2 * BUDGET.min_blocks
        assert overhead.waits_s == pytest.approx([20e-3] * len(overhead.filled), rel=0.02)
        assert (result.launch_overhead_s, result.baseline_launch_overhead_s) == pytest.approx(
            (3e-4, 3e-4)
        )
        assert result.speedup.value == pytest.approx(4.0)
        assert result.samples_s == pytest.approx([1e-3] * BUDGET.min_blocks)

    def test_one_null_batch_is_enough_where_both_have_as_many_calls(self, shift_task: Task) -> None:
        overhead = FakeOverheadProbe(3e-4)
        result = measured(shift_task, session_of(1e-3), session_of(1e-3), BUDGET, overhead)
        assert isinstance(result, Measurement)
        assert overhead.warmed_up[:3] == [0, 1, 1]  # before each of both
        assert len(overhead.filled) == BUDGET.min_blocks
        assert (result.launch_overhead_s, result.baseline_launch_overhead_s) == pytest.approx(
            (3e-4, 3e-4)
        )

    @pytest.mark.parametrize(
        ("baseline_s", "baseline_calls", "null_batches"), [(1.1e-3, 10, 1), (1.4e-3, 15, 2)]
    )
    def test_a_submission_that_takes_about_as_long_has_as_many_calls_as_the_baseline(
        self, shift_task: Task, baseline_s: float, baseline_calls: int, null_batches: int
    ) -> None:
        """Though its outputs are checked, for which there is time for ten calls."""
        overhead = FakeOverheadProbe(3e-4)
        submission = fake_program(shift_task, session_of(1e-3))
        submission.sizes[CASE.spec] = CallSize(call_s=1e-3, round_trip_s=20e-3)
        baseline = fake_program(shift_task, session_of(baseline_s), trusted=True)
        baseline.sizes[CASE.spec] = CallSize(call_s=baseline_s, round_trip_s=0.0)
        result = measure_shape(
            shift_task, CASE, submission, baseline, replace(BUDGET, max_block_s=0.2),
            cast(OverheadProbe, overhead), lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert (result.calls_per_batch, result.baseline_calls_per_batch) == (10, baseline_calls)
        assert len(overhead.filled) == null_batches * BUDGET.min_blocks
        assert result.speedup.value == pytest.approx(baseline_s / 1e-3)

    @pytest.mark.parametrize(
        ("baseline_s", "turns"), [(3e-3, [5e-3, 15e-3, 15e-3, 5e-3]), (1.8e-3, [7e-3])]
    )
    def test_a_null_batch_lasts_as_long_as_the_calls(
        self, shift_task: Task, baseline_s: float, turns: list[float]
    ) -> None:
        """Or as the mean of both, if they take about as long."""
        overhead = FakeOverheadProbe(3e-4)
        budget = replace(BUDGET, max_calls=5)
        result = measured(shift_task, session_of(1e-3), session_of(baseline_s), budget, overhead)
        assert isinstance(result, Measurement)
        count = (1 if len(turns) == 1 else 2) * BUDGET.min_blocks
        assert [calls for calls, _ in overhead.filled] == [5] * count
        wanted = (turns * count)[:count]
        assert overhead.waits_s == pytest.approx(wanted, rel=0.02)

    @pytest.mark.parametrize(("null_batch_s", "wait_s"), [(4e-3, 4e-3), (0.0, 0.0)])
    def test_a_null_batch_lasts_no_longer_than_the_budget_says(
        self, shift_task: Task, null_batch_s: float, wait_s: float
    ) -> None:
        """One is enough for both then."""
        overhead = FakeOverheadProbe(3e-4)
        budget = replace(BUDGET, max_calls=5, null_batch_s=null_batch_s)
        result = measured(shift_task, session_of(1e-3), session_of(2e-3), budget, overhead)
        assert isinstance(result, Measurement)
        assert overhead.waits_s == [wait_s] * BUDGET.min_blocks

    @pytest.mark.parametrize(("baseline_s", "null_batches"), [(1e-3, 1), (4e-3, 2)])
    def test_a_null_batch_of_the_first_block_may_do_for_all(
        self, shift_task: Task, baseline_s: float, null_batches: int
    ) -> None:
        overhead = FakeOverheadProbe(3e-4)
        budget = replace(BUDGET, null_blocks=1)
        session = session_of(baseline_s)
        result = measured(shift_task, session_of(1e-3), session, budget, overhead)
        assert isinstance(result, Measurement)
        assert len(overhead.filled) == null_batches
        assert (result.launch_overhead_s, result.baseline_launch_overhead_s) == pytest.approx(
            (3e-4, 3e-4)
        )
        assert result.speedup.value == pytest.approx(baseline_s / 1e-3)
        assert len(result.samples_s) == budget.min_blocks

    @pytest.mark.parametrize("blocks", [6, 12])
    @pytest.mark.parametrize(("null_blocks", "of_six"), [(9, 6), (6, 6), (4, 4), (1, 1)])
    def test_some_of_the_least_blocks_have_null_batches_and_all_beyond(
        self, shift_task: Task, null_blocks: int, of_six: int, blocks: int
    ) -> None:
        overhead = FakeOverheadProbe(3e-4)
        budget = replace(BUDGET, null_blocks=null_blocks, min_blocks=6, max_blocks=blocks)
        budget = replace(budget, target_rel_ci=-1.0)  # never sure enough
        result = measured(shift_task, session_of(1e-3), session_of(1e-3), budget, overhead)
        assert isinstance(result, Measurement)
        assert len(result.samples_s) == blocks
        assert len(overhead.filled) == of_six + blocks - 6

    def test_other_blocks_count_with_the_null_batches_there_are_in_turns(
        self, shift_task: Task
    ) -> None:
        """So one that was late is one of several, however many blocks follow."""
        overhead = FakeOverheadProbe(3e-4)
        late = itertools.chain([3e-4, 3e-4, 9e-4], itertools.repeat(math.nan))
        overhead.time = lambda *_: next(late)  # type: ignore[method-assign]
        budget = replace(BUDGET, null_blocks=3, min_blocks=9, max_blocks=9)
        result = measured(shift_task, session_of(1e-3), session_of(1e-3), budget, overhead)
        assert isinstance(result, Measurement)
        assert result.launch_overhead_s == pytest.approx(3e-4)
        assert len(overhead.warmed_up) == 2 * budget.null_blocks  # it goes with a null batch

    def test_a_later_probe_is_held_against_the_last_null_batch(self, shift_task: Task) -> None:
        budget = replace(BUDGET, null_blocks=1)
        result, overhead = probed_late(shift_task, 1e-4, 1e-4, budget)
        assert len(overhead.filled) <= 2
        assert result.time_s.value == pytest.approx(1e-3)

    @pytest.mark.parametrize(
        ("idle_after_s", "counted_s"), [(0.0, 4e-4), (1e-4, 3e-4), (3.9e-4, 2e-4), (9e-4, 2e-4)]
    )
    def test_a_probe_as_late_as_after_a_null_batch_adds_no_time(
        self, shift_task: Task, idle_after_s: float, counted_s: float
    ) -> None:
        """But for two tenths of a millisecond at most: something may have kept ours waiting."""
        budget = replace(BUDGET, max_calls=10)
        result, _ = probed_late(shift_task, 4e-4, idle_after_s, budget)
        assert result.time_s.value == pytest.approx(1e-3 + counted_s / 10)

    def test_arenas_of_the_shape_before_take_no_memory_from_the_next(
        self, shift_task: Task
    ) -> None:
        """Each shape gets a share of all memory, though the one before has its arenas still."""
        buffer = lay_out(shift_task, CASE, 1).size
        beside = beside_arena(shift_task.problem.tensors_of(CASE, shift_task.dtype), 1)

        class Small(CpuDevice):
            left = 401 * buffer + beside

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
        pair = [fake_program(task, FakeSession(1e-5), trusted=trusted) for trusted in (False, True)]
        budget = replace(BUDGET, memory_share=0.2)
        calls = []
        for _ in range(3):
            shape = measure_shape(task, CASE, *pair, budget, None, lambda _: None)
            assert isinstance(shape, Measurement)
            calls += [each.calls for each in pair]
        assert calls == [80] * 6

    def test_what_is_known_of_a_baseline_is_not_tried_again(self, shift_task: Task) -> None:
        sizes: dict[str, CallSize] = {}
        batches = []
        for _ in range(2):
            session = FakeSession(1e-3)
            baseline = TimedProgram(
                cast(Session, session), shift_task, name="baseline", trusted=True, capture=False,
                sizes=sizes,
            )  # fmt: skip
            result = measure_shape(
                shift_task, CASE, fake_program(shift_task, FakeSession(1e-3)), baseline,
                BUDGET, None, lambda _: None,
            )  # fmt: skip
            assert isinstance(result, Measurement)
            assert result.baseline_calls_per_batch == 20
            batches.append([calls for calls, _ in session.batches])
        assert batches[0][0] == 1
        assert batches[1] == [20] * BUDGET.min_blocks
        assert sizes[CASE.spec].call_s == pytest.approx(1e-3)

    def test_what_is_no_longer_so_is_found_out(self, shift_task: Task) -> None:
        """A baseline that seemed slow would have batches that its overhead makes longer."""
        baseline = fake_program(shift_task, FakeSession(1e-3), trusted=True)
        baseline.sizes[CASE.spec] = CallSize(call_s=10e-3, round_trip_s=0.0)
        result = measure_shape(
            shift_task, CASE, fake_program(shift_task, FakeSession(1e-3)), baseline,
            BUDGET, cast(OverheadProbe, FakeOverheadProbe(0.0)), lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert result.baseline_calls_per_batch == 20

    def test_a_slow_submission_is_tried_with_one_call(self, shift_task: Task) -> None:
        session = FakeSession(1.0)
        result = measured(shift_task, session, FakeSession(1e-4))
        assert isinstance(result, Measurement)
        assert {calls for calls, _ in session.batches} == {1}
        assert result.calls_per_batch == 1

    def test_one_like_the_baseline_is_tried_with_as_many_calls(self, shift_task: Task) -> None:
        session = FakeSession(5e-5)
        result = measured(shift_task, session, FakeSession(1e-4))
        assert isinstance(result, Measurement)
        tried = [calls for calls, _ in itertools.groupby(calls for calls, _ in session.batches)]
        assert tried == [1, result.baseline_calls_per_batch, result.calls_per_batch]

    def test_without_an_overhead_probe_nothing_is_subtracted(self, shift_task: Task) -> None:
        result = measure_shape(
            shift_task, CASE, fake_program(shift_task, FakeSession(1e-3, constant=1e-3)),
            fake_program(shift_task, FakeSession(), trusted=True), BUDGET, None, lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert result.launch_overhead_s == 0.0
        assert result.time_s.value == pytest.approx(1e-3 + 1e-3 / result.calls_per_batch)


class TestHeldToAccount:
    """What a submission does before and beside the batches that count gains it nothing."""

    @pytest.mark.parametrize("slow", [1, 3])
    def test_a_submission_that_is_slow_while_sizing_still_gets_long_batches(
        self, shift_task: Task, slow: int
    ) -> None:
        class Sly(FakeSession):
            """Of each batch 0.2 ms does not show, which is much of a batch of one call."""

            def run(
                self, batch: Any, seed: str, *, stop: bool = True, **options: Any
            ) -> float | Fault:
                self.per_call = 0.1 if len(self.batches) < slow else 1e-3
                seconds = super().run(batch, seed, stop=stop, **options)
                return seconds if isinstance(seconds, Fault) else seconds - 2e-4

        session = Sly(constant=1e-4)
        result = measured(shift_task, session, FakeSession(2e-3, constant=1e-4))
        assert isinstance(result, Measurement)
        assert result.calls_per_batch >= 20
        assert result.time_s.value == pytest.approx(1e-3, rel=0.011)
        assert len(result.samples_s) == BUDGET.min_blocks
        seeds = [seed for _, seed in session.batches]
        assert len(set(seeds)) == len(seeds)

    def test_a_baseline_that_was_slow_while_sizing_still_gets_long_batches(
        self, shift_task: Task
    ) -> None:
        class Kept(FakeSession):
            def run(
                self, batch: Any, seed: str, *, stop: bool = True, **options: Any
            ) -> float | Fault:
                seconds = super().run(batch, seed, stop=stop, **options)
                return seconds if len(self.batches) > 1 else 0.1

        result = measured(shift_task, FakeSession(), beside := Kept(2e-3, constant=1e-4))
        assert isinstance(result, Measurement)
        assert beside.batches[-1][0] == 10

    idle = IdleBaseline(before_s=4e-5, after_s=2e-4)

    def beside(
        self,
        task: Task,
        baseline: FakeSession,
        overhead: FakeOverheadProbe | None = None,
        **limits: int,
    ) -> Measurement | Fault:
        pair = [
            fake_program(task, session, trusted=trusted, idle=self.idle)
            for session, trusted in ((FakeSession(2e-3), False), (baseline, True))
        ]
        overhead = overhead or FakeOverheadProbe(0.0)
        budget = replace(BUDGET, **({"max_blocks": 40} | limits))
        return measure_shape(
            task, CASE, pair[0], pair[1], budget, cast(OverheadProbe, overhead), lambda _: None
        )

    @pytest.mark.parametrize("max_blocks", [40, BUDGET.min_blocks])
    @pytest.mark.parametrize("always", [False, True])
    def test_blocks_in_which_the_baseline_waited_do_not_count(
        self, shift_task: Task, max_blocks: int, *, always: bool
    ) -> None:
        """A kernel that was left behind has half of the device: most batches take twice as long."""
        busy = itertools.cycle([True] if always else [True, True, True, False])

        class Kept(FakeSession):
            def run(
                self, batch: Any, seed: str, *, stop: bool = True, **options: Any
            ) -> float | Fault:
                seconds = super().run(batch, seed, stop=stop, **options)
                self.probes = (2.4e-3 if (kept := next(busy)) else 4e-5, 2e-4)
                assert not isinstance(seconds, Fault)
                return 2 * seconds if kept else seconds

        result = self.beside(shift_task, Kept(2e-3), max_blocks=max_blocks)
        if always:
            assert isinstance(result, Fault)
            assert (result.verdict, result.shared) == (Verdict.REJECTED, True)
        else:
            assert isinstance(result, Measurement)
            assert result.speedup.value == pytest.approx(1.0)

    @pytest.mark.parametrize("null_blocks", [1, 2, 100])
    def test_null_batches_that_waited_are_not_subtracted(
        self, shift_task: Task, null_blocks: int
    ) -> None:
        """Neither from the batches beside them nor from those that count with them later."""

        class Kept(FakeOverheadProbe):
            late = False

            def time(self, batch: Any, seed: str, cpu: int | None, wait_s: float) -> float:
                super().time(batch, seed, cpu, wait_s)
                self.late = len(self.filled) % 4 != 0
                return 1e-2 if self.late else 0.0

            def started_early_fault(self) -> Fault | None:
                return FAULT if self.late else None

        result = self.beside(shift_task, FakeSession(2e-3), Kept(0.0), null_blocks=null_blocks)
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(2e-3)
        assert result.launch_overhead_s == 0.0


class TestKept:
    """Times of the baseline by itself, taken before, count beside the submission's."""

    TIMES = KeptTimes((Timed(4.3e-3, 3e-4), Timed(4.31e-3, 3e-4)), 5, 2.0)

    def kept(self, task: Task, submission: FakeSession, overhead: FakeOverheadProbe) -> Measurement:
        self.beside = FakeSession()
        baseline = fake_program(task, self.beside, trusted=True)
        baseline.kept = {CASE.spec: self.TIMES}
        result = measure_shape(
            task, CASE, fake_program(task, submission), baseline,
            BUDGET, cast(OverheadProbe, overhead), lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert baseline.sizes == {}
        return result

    def test_only_the_submission_is_timed(self, shift_task: Task) -> None:
        overhead = FakeOverheadProbe(3e-4)
        result = self.kept(shift_task, session_of(1e-3), overhead)
        assert self.beside.batches == []
        assert len(overhead.filled) == BUDGET.min_blocks
        assert result.time_s.value == pytest.approx(1e-3)
        assert result.baseline_s.value == pytest.approx(4e-3, rel=2e-3)
        assert result.speedup.value == pytest.approx(4.0, rel=2e-3)
        assert (result.baseline_calls_per_batch, result.baseline_kernels) == (5, 2.0)
        assert len(result.baseline_samples_s) == len(result.samples_s) == BUDGET.min_blocks

    def test_another_shape_is_timed_in_turns(self, shift_task: Task) -> None:
        baseline_session = FakeSession(2e-3)
        baseline = fake_program(shift_task, baseline_session, trusted=True)
        baseline.kept = {"n=7,s=1.0": self.TIMES}
        result = measure_shape(
            shift_task, CASE, fake_program(shift_task, FakeSession(1e-3)), baseline,
            BUDGET, cast(OverheadProbe, FakeOverheadProbe(1e-4)), lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert len(baseline_session.batches) >= BUDGET.min_blocks
        assert result.speedup.value == pytest.approx(2.0, rel=0.01)


def test_a_shape_before_tells_how_long_a_batch_has_to_be(shift_task: Task) -> None:
    """Calls that took a quarter of the baseline's are tried as if they did so again."""
    session = FakeSession(1e-3)
    submission = fake_program(shift_task, session)
    for per_call, baseline_s in ((1e-3, 4e-3), (2.1e-3, 8e-3)):
        session.per_call = per_call
        session.batches.clear()
        baseline = fake_program(shift_task, FakeSession(baseline_s), trusted=True)
        result = measure_shape(
            shift_task, CASE, submission, baseline,
            BUDGET, cast(OverheadProbe, FakeOverheadProbe(0.0)), lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
    assert submission.times_as_long == pytest.approx(2.1 / 8, rel=0.01)
    assert {calls for calls, _ in session.batches} == {10}  # 20 ms, not 1 call at first
