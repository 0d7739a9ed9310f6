"""Sizing, stopping, capture and pairing, with sessions that are made up."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge import measure
from harness.judge.audit import BASELINE_FIRST_S, Usual, linearity_doubt, still_busy
from harness.judge.batch import lay_out
from harness.judge.blank import Blank
from harness.judge.measure import (
    CPU_EFFORT,
    BaselineError,
    Contender,
    Effort,
    choose_calls,
    join,
    measure_shape,
    with_baseline,
)
from harness.judge.memory import Device
from harness.judge.session import Fault, Session
from harness.judge.statistics import Timed
from harness.judge.task import Task
from harness.problem.draws import Case
from harness.record import make_score
from harness.result import Measurement, Verdict

CASE = Case(sizes={"n": 50}, scalars={"s": 0.5})
EFFORT = Effort(warm_s=0.0, batch_s=0.02, min_blocks=5, max_blocks=12, alone_blocks=0)
FAULT = Fault(Verdict.RUNTIME_ERROR, "no luck")


class FakeSession:
    """Takes a constant and so much per call, by a clock that is made up; can fail at a point."""

    kernels: float | None = None
    probes = (0.0, 0.0)

    def __init__(
        self,
        per_call: float = 1e-3,
        *,
        constant: float = 0.0,
        noise: Iterator[float] | None = None,
        captures: bool = False,
        fails: str = "",
        writes: bool = True,
    ) -> None:
        self.per_call, self.constant, self.noise = per_call, constant, noise
        self.captures, self.fails, self.writes = captures, fails, writes
        self.batches: list[tuple[int, str]] = []
        self.closed = False

    def map(self, arena: Any) -> Fault | None:
        self.arena = arena
        return FAULT if self.fails == "map" else None

    def prepare(self, batch: Any, plan: Any) -> bool | Fault:
        self.plan = plan
        return FAULT if self.fails == "prepare" else self.captures and plan.capture

    def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
        batch.fill(seed)
        x, y = batch.layout.slots
        if self.writes:
            batch._view(batch._bytes, y).copy_(batch._view(batch._bytes, x) + 0.5)
        self.batches.append((batch.layout.calls, seed))
        if self.fails == "run":
            return FAULT
        factor = math.exp(next(self.noise)) if self.noise else 1.0
        return self.constant + self.per_call * batch.layout.calls * factor

    def close(self) -> None:
        self.closed = True


class FakeBlank:
    """What a batch costs, by a clock that is made up; remembers what was filled."""

    def __init__(self, batch_s: float) -> None:
        self.batch_s = batch_s
        self.filled: list[tuple[int, str]] = []

    def time(self, batch: Any, seed: str) -> float:
        self.filled.append((batch.layout.calls, seed))
        return self.batch_s


def contender(task: Task, session: FakeSession, *, trusted: bool = False) -> Contender:
    return Contender(cast(Session, session), task, trusted=trusted, capture=False)


def measured(
    task: Task, submission: FakeSession, baseline: FakeSession, effort: Effort = EFFORT
) -> Measurement | Fault:
    return measure_shape(
        task, CASE, contender(task, submission), contender(task, baseline, trusted=True),
        effort, cast(Blank, FakeBlank(1e-4)), lambda _: None,
    )  # fmt: skip


class TestChooseCalls:
    def test_enough_to_drown_the_constant(self, shift_task: Task) -> None:
        assert choose_calls(shift_task, CASE, 1e-3, EFFORT) == 20
        assert choose_calls(shift_task, CASE, 0.7e-3, EFFORT) == 29
        assert choose_calls(shift_task, CASE, 5.0, EFFORT) == 1

    def test_never_more_than_the_limit(self, shift_task: Task) -> None:
        assert choose_calls(shift_task, CASE, 0.0, EFFORT) == EFFORT.max_calls

    def test_never_more_than_fits(self, shift_task: Task) -> None:
        class Small:
            kind = "cpu"

            def free_bytes(self) -> int:
                return 10 * lay_out(shift_task, CASE, 1).size

        task = replace(shift_task, device=cast(Any, Small()))
        assert choose_calls(task, CASE, 1e-9, replace(EFFORT, memory_share=0.35)) == 3
        assert choose_calls(task, CASE, 1e-9, replace(EFFORT, memory_share=0.01)) == 1

    @given(seconds=st.floats(0, 1e3))
    def test_always_a_sensible_number(self, shift_task: Task, seconds: float) -> None:
        assert 1 <= choose_calls(shift_task, CASE, seconds, CPU_EFFORT) <= CPU_EFFORT.max_calls


def _samples(half: float, blocks: int) -> tuple[list[Timed], list[Timed]]:
    """Ratios that swing so much that the interval's half-width is about ``half``."""
    swing = half * math.sqrt(blocks) / 2.2
    swings = [Timed(math.exp(swing * (-1) ** i)) for i in range(blocks)]
    return [Timed(1.0)] * blocks, swings


class TestEnough:
    effort = Effort(
        min_blocks=5, max_blocks=40, tight=0.002, wide=0.01, budget_s=1.0, patience_s=4.0
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
        assert measure._enough(_samples(half, blocks), spent, self.effort) is enough


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
        assert len(result.samples_s) == len(result.baseline_samples_s) == EFFORT.min_blocks
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

        effort = replace(EFFORT, patience_s=60.0)
        quiet = measured(shift_task, FakeSession(), FakeSession(), effort)
        noisy = measured(shift_task, FakeSession(noise=noise()), FakeSession(), effort)
        assert isinstance(quiet, Measurement)
        assert isinstance(noisy, Measurement)
        assert len(noisy.samples_s) == EFFORT.max_blocks > len(quiet.samples_s)
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
        (other,) = both.others
        assert other.baseline == "fused"
        assert other.time_s.value == pytest.approx(5e-3, rel=0.01)
        assert other.speedup.value == pytest.approx(5.0, rel=0.01)
        (three,) = with_baseline([both], "third", [first])
        assert [each.baseline for each in three.others] == ["fused", "third"]

    def test_a_time_below_the_constant_is_still_positive(self, shift_task: Task) -> None:
        effort = replace(EFFORT, max_calls=4)
        result = measured(shift_task, FakeSession(1e-9), FakeSession(), effort)
        assert isinstance(result, Measurement)
        assert 0 < result.time_s.value < 1e-8

    def test_a_blank_batch_goes_before_each_contenders(self, shift_task: Task) -> None:
        blank = FakeBlank(3e-4)
        result = measure_shape(
            shift_task, CASE, contender(shift_task, FakeSession(1e-3, constant=3e-4)),
            contender(shift_task, FakeSession(4e-3, constant=3e-4), trusted=True),
            EFFORT, cast(Blank, blank), lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert blank.filled[:2] == [(20, blank.filled[0][1]), (5, blank.filled[0][1])]
        assert len(blank.filled) == 2 * EFFORT.min_blocks
        assert (result.overhead_s, result.baseline_overhead_s) == pytest.approx((3e-4, 3e-4))
        assert result.speedup.value == pytest.approx(4.0)
        assert result.samples_s == pytest.approx([1e-3] * EFFORT.min_blocks)

    def test_where_nothing_is_known_of_the_constant_nothing_is_taken_off(
        self, shift_task: Task
    ) -> None:
        result = measure_shape(
            shift_task, CASE, contender(shift_task, FakeSession(1e-3, constant=1e-3)),
            contender(shift_task, FakeSession(), trusted=True), EFFORT, None, lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert result.overhead_s == 0.0
        assert result.time_s.value == pytest.approx(1.1e-3)


class TestJoin:
    def restart(self) -> Session:
        return cast(Session, self.fresh)

    fresh = FakeSession()

    def on(self, task: Task, kind: str) -> Task:
        device = SimpleNamespace(
            kind=kind, arena=task.device.arena, synchronize=lambda: None, torch_device="cpu"
        )
        return replace(task, device=cast(Any, device))

    def test_nothing_is_captured_on_a_cpu(self, shift_task: Task) -> None:
        session = FakeSession()
        joined = join(cast(Session, session), self.restart, shift_task, CASE)
        assert isinstance(joined, Contender)
        assert not joined.capture
        assert joined.session is session

    def test_captured(self, shift_task: Task) -> None:
        session = FakeSession(captures=True)
        task = self.on(shift_task, "cuda")
        joined = join(cast(Session, session), self.restart, task, CASE)
        assert isinstance(joined, Contender)
        assert joined.capture
        assert joined.session is session
        assert not session.closed

    @pytest.mark.parametrize("fails", ["", "prepare", "map"])
    def test_a_process_that_saw_a_failed_capture_is_not_used(
        self, shift_task: Task, fails: str
    ) -> None:
        session = FakeSession(fails=fails)
        joined = join(cast(Session, session), self.restart, self.on(shift_task, "cuda"), CASE)
        assert isinstance(joined, Contender)
        assert session.closed
        assert joined.session is self.fresh
        assert not joined.capture

    def test_a_fresh_one_may_fail_too(self, shift_task: Task) -> None:
        task = self.on(shift_task, "cuda")
        assert join(cast(Session, FakeSession()), lambda: FAULT, task, CASE) == FAULT


def test_cpu_effort_is_small() -> None:
    assert CPU_EFFORT.max_blocks <= 5
    assert CPU_EFFORT.batch_s * CPU_EFFORT.max_blocks < 0.5


def test_releasing_gives_the_memory_back(shift_task: Task) -> None:
    one = contender(shift_task, FakeSession())
    assert one.setup(CASE, 4) is None
    assert one._arena is not None
    one.release()
    one.release()
    assert one._arena is None


class TestAlone:
    """A call alone against one among many."""

    effort = replace(EFFORT, alone_blocks=12)

    def timed(
        self,
        task: Task,
        alone_s: float,
        *,
        captured: bool,
        probes: tuple[float, float] = (0.0, 0.0),
        usual: tuple[float, float] = (0.0, 0.0),
        baseline_writes: bool = True,
    ) -> Measurement | Fault:
        class Overlapping(FakeSession):
            """1 ms a call in a batch, whatever one takes alone."""

            def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
                seconds = super().run(batch, seed, stop=stop)
                if stop or isinstance(seconds, Fault):
                    return seconds
                assert batch.layout.calls == 1
                return alone_s

        session, beside = Overlapping(1e-3, captures=captured), FakeSession(2e-3)
        beside.writes = baseline_writes
        session.probes, beside.probes = probes, usual
        one = Contender(cast(Session, session), task, trusted=False, capture=captured)
        other = contender(task, beside, trusted=True)
        return measure_shape(task, CASE, one, other, self.effort, None, lambda _: None)

    @pytest.mark.parametrize("alone_s", [0.8e-3, 1.0e-3, 1.05e-3])
    def test_one_after_the_other(self, shift_task: Task, alone_s: float) -> None:
        result = self.timed(shift_task, alone_s, captured=True)
        assert isinstance(result, Measurement)
        assert result.alone_s is not None
        assert result.alone_s.value == pytest.approx(alone_s)
        assert result.time_s.value == pytest.approx(1e-3)

    def test_calls_of_a_graph_that_overlap_are_rejected(self, shift_task: Task) -> None:
        result = self.timed(shift_task, 1.3e-3, captured=True)
        assert isinstance(result, Fault)
        assert result.verdict is Verdict.REJECTED
        assert "1.30 ms alone, but 1.00 ms among many" in result.message

    def test_probes_of_waking_runners_are_compared_with_each_other(self, shift_task: Task) -> None:
        # Whatever is usual elsewhere: on some machines an awake process delays a probe by 30 µs.
        same = self.timed(shift_task, 1e-3, captured=True, probes=(3e-4, 3e-4), usual=(3e-4, 3e-4))
        assert isinstance(same, Measurement)
        assert same.alone_s is not None
        assert same.alone_s.value == pytest.approx(1e-3)
        begun = self.timed(shift_task, 8e-4, captured=True, probes=(9e-4, 0.0))
        assert isinstance(begun, Fault)
        assert "1.70 ms alone" in begun.message

    def test_a_little_longer_is_open_and_not_ranked(self, shift_task: Task) -> None:
        result = self.timed(shift_task, 1.08e-3, captured=True)
        assert isinstance(result, Measurement)
        doubt = linearity_doubt(result)
        assert "1.08 ms alone, but 1.00 ms among many" in doubt
        task = replace(shift_task, device=cast(Device, SimpleNamespace(kind="cuda")))
        score = make_score(task, [result], self.effort, known_seed=False)
        assert not score.ranked
        assert score.unranked_reason.startswith(doubt)
        for alone_s, captured in ((1.05e-3, True), (4e-3, False)):
            clear = self.timed(shift_task, alone_s, captured=captured)
            assert isinstance(clear, Measurement)
            assert linearity_doubt(clear) == ""

    def test_the_judge_treats_both_alike(
        self, shift_task: Task, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[tuple[int, bool]] = []
        plain = measure.audit_batch

        def noted(batch: Any) -> Any:
            found = plain(batch)
            seen.append((batch.layout.calls, found is None))
            return found

        monkeypatch.setattr(measure, "audit_batch", noted)
        result = self.timed(shift_task, 1e-3, captured=True, baseline_writes=False)
        assert isinstance(result, Measurement)  # whatever the baseline's outputs are
        lone = [right for calls, right in seen if calls == 1]
        assert lone.count(False) == 14  # the baseline's: two uncounted blocks, and twelve
        assert lone.count(True) >= 14

    def test_of_plain_calls_the_longer_time_counts(self, shift_task: Task) -> None:
        result = self.timed(shift_task, 4e-3, captured=False)
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(4e-3 + BASELINE_FIRST_S)
        assert result.speedup.value == pytest.approx(0.5, rel=0.01)
        shorter = self.timed(shift_task, 0.5e-3, captured=False)
        assert isinstance(shorter, Measurement)
        assert shorter.time_s.value == pytest.approx(1e-3)

    def test_a_batch_of_one_call_needs_no_other(self, shift_task: Task) -> None:
        effort = replace(self.effort, max_calls=1)
        one, two = FakeSession(), FakeSession()
        result = measure_shape(
            shift_task, CASE, contender(shift_task, one), contender(shift_task, two, trusted=True),
            effort, None, lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert result.alone_s is None


class TestIdle:
    """What probes show; a usual one takes 0.04 ms before *go* and 0.2 ms after *done*."""

    usual = Usual(4e-5, 2e-4)

    def timed(self, task: Task, *probes: tuple[float, float]) -> Measurement | Fault:
        session = FakeSession()
        seen = itertools.cycle(probes)

        class Probed(FakeSession):
            def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
                self.probes = next(seen)
                return super().run(batch, seed, stop=stop)

        session = Probed()
        one = Contender(
            cast(Session, session), task, trusted=False, capture=False, usual=self.usual
        )
        other = contender(task, FakeSession(), trusted=True)
        return measure_shape(task, CASE, one, other, EFFORT, None, lambda _: None)

    def test_at_rest(self, shift_task: Task) -> None:
        result = self.timed(shift_task, (3e-5, 2.3e-4), (5e-5, 1e-4))
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(1e-3)

    def test_now_and_then_the_host_is_late(self, shift_task: Task) -> None:
        late = (3e-3, 2e-4)
        assert isinstance(self.timed(shift_task, late, self.ok, self.ok), Measurement)

    ok = (4e-5, 2e-4)

    @pytest.mark.parametrize(
        ("probes", "words"),
        [((2.4e-3, 2e-4), "before the inputs"), ((4e-5, 2.5e-3), "after the submission said")],
    )
    def test_at_work(self, shift_task: Task, probes: tuple[float, float], words: str) -> None:
        result = self.timed(shift_task, probes)
        assert isinstance(result, Fault)
        assert result.verdict is Verdict.REJECTED
        assert result.shared
        assert words in result.message

    @pytest.mark.parametrize(("excess_s", "busy"), [(0.0, False), (1e-4, False), (2e-3, True)])
    def test_who_it_was_shows_when_the_submission_is_gone(
        self, excess_s: float, *, busy: bool
    ) -> None:
        assert still_busy(lambda: self.usual.before_s + excess_s, self.usual) is busy

    def test_work_after_done_counts(self, shift_task: Task) -> None:
        result = self.timed(shift_task, (4e-5, 5e-4))
        assert isinstance(result, Measurement)
        calls = result.calls_per_batch
        assert result.time_s.value == pytest.approx(1e-3 + 3e-4 / calls)
