"""Isolated calls against calls among many in a batch."""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from support.fake_sessions import BUDGET, CASE, FakeSession, fake_program

from harness.device.cpu import CpuDevice
from harness.grading.result_builder import make_score
from harness.judge.task import Task
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing import timed_program
from harness.timing.audit import BASELINE_FIRST_S, SURE_LOOKS, IdleBaseline, linearity_doubt
from harness.timing.isolated import slower_where_in_doubt
from harness.timing.measure import measure_shape


class Rankable(CpuDevice):
    """The host, as if its times stood on a board."""

    rankable = True


class TestIsolatedCall:
    """One call in a batch of its own against one among many."""

    budget = replace(BUDGET, isolated_blocks=12, isolated_s=math.inf)

    def timed(
        self,
        task: Task,
        isolated_s: float,
        *,
        captured: bool,
        probes: tuple[float, float] = (0.0, 0.0),
        idle: tuple[float, float] = (0.0, 0.0),
        baseline_writes: bool = True,
        kernels: float | None = None,
        late: Iterable[bool] = (),
        first_s: Iterable[float] = (),
    ) -> Measurement | Fault:
        """``late``: in which isolated calls the baseline has to wait, and takes 0.5 ms longer.

        ``first_s``: what the first isolated calls take, of all; ``isolated_s`` is what others do.
        """
        waits, first = iter(late), iter(first_s)

        class Overlapping(FakeSession):
            """1 ms a call in a batch, whatever an isolated one takes."""

            def run(
                self, batch: Any, seed: str, *, stop: bool = True, **options: Any
            ) -> float | Fault:
                seconds = super().run(batch, seed, stop=stop, **options)
                if stop or isinstance(seconds, Fault):
                    return seconds
                assert batch.layout.calls == 1
                return next(first, isolated_s)

        class Waiting(FakeSession):
            def run(
                self, batch: Any, seed: str, *, stop: bool = True, **options: Any
            ) -> float | Fault:
                seconds = super().run(batch, seed, stop=stop, **options)
                waited = not stop and next(waits, False)
                self.probes = (idle[0] + 2e-3 * waited, idle[1])
                return seconds if isinstance(seconds, Fault) else seconds + 5e-4 * waited

        session, beside = Overlapping(1e-3, captures=captured), Waiting(2e-3)
        session.kernels = kernels
        beside.writes = baseline_writes
        session.probes, beside.probes = probes, idle
        submission = fake_program(task, session, capture=captured)
        baseline = fake_program(task, beside, trusted=True, idle=IdleBaseline(*idle))
        return measure_shape(task, CASE, submission, baseline, self.budget, None, lambda _: None)

    @pytest.mark.parametrize("isolated_s", [0.8e-3, 1.0e-3, 1.05e-3])
    def test_calls_one_after_the_other_are_accepted(
        self, shift_task: Task, isolated_s: float
    ) -> None:
        result = self.timed(shift_task, isolated_s, captured=True)
        assert isinstance(result, Measurement)
        assert result.isolated_s is not None
        assert result.isolated_s.value == pytest.approx(isolated_s)
        assert result.time_s.value == pytest.approx(1e-3)

    def test_calls_of_a_graph_that_overlap_are_rejected(self, shift_task: Task) -> None:
        result = self.timed(shift_task, 1.3e-3, captured=True)
        assert isinstance(result, Fault)
        assert result.verdict is Verdict.REJECTED
        assert "1.30 ms isolated, but 1.00 ms among many" in result.message

    def test_an_isolated_call_that_is_late_once_is_timed_again(self, shift_task: Task) -> None:
        tries = 2 + self.budget.isolated_blocks
        for late_s in (1.08e-3, 1.3e-3):
            result = self.timed(shift_task, 1e-3, captured=True, first_s=[late_s] * tries)
            assert isinstance(result, Measurement)
            assert result.isolated_s is not None
            assert result.isolated_s.value == pytest.approx(1e-3)
            assert linearity_doubt(result) == ""
        result = self.timed(shift_task, 1.4e-3, captured=True, first_s=[1.3e-3] * tries)
        assert isinstance(result, Fault)
        assert "1.30 ms isolated" in result.message
        later = [1e-3] * tries + [2e-3] * tries  # not asked for
        result = self.timed(shift_task, 2e-3, captured=True, first_s=later)
        assert isinstance(result, Measurement)

    @pytest.mark.parametrize(("captured", "times"), [(True, 1), (False, 2)])
    def test_some_blocks_are_taken_however_short_the_time(
        self, shift_task: Task, *, captured: bool, times: int
    ) -> None:
        self.budget = replace(self.budget, isolated_s=0.0)
        first = iter([1e-3] * 99)
        self.timed(shift_task, 1e-3, captured=captured, first_s=first)
        assert 99 - len(list(first)) == 2 + times * self.budget.min_isolated

    def test_work_that_the_clock_did_not_see_settles_nothing_as_if_it_were_not_there(
        self, shift_task: Task
    ) -> None:
        result = self.timed(shift_task, 1e-3, captured=True, probes=(0.0, 3e-4))
        assert isinstance(result, Fault)
        assert "1.30 ms isolated" in result.message

    def test_a_call_near_the_limit_is_timed_for_longer(self, shift_task: Task) -> None:
        """Isolated calls that scatter around what is allowed settle nothing."""
        scattered = itertools.cycle([1.055e-3, 1.075e-3])
        taken: list[float] = []

        def noted() -> Iterator[float]:
            for seconds in scattered:
                taken.append(seconds)
                yield seconds

        self.timed(shift_task, 1e-3, captured=True, first_s=noted())
        assert len(taken) == 2 + self.budget.isolated_blocks

    @pytest.mark.corpus
    def test_a_claimed_number_of_kernels_allows_no_more_time(self, shift_task: Task) -> None:
        for claimed in (None, 1.0, 5.0, 1e3, 1e6):
            honest = self.timed(shift_task, 1.059e-3, captured=True, kernels=claimed)
            assert isinstance(honest, Measurement)
            assert linearity_doubt(honest) == ""
            result = self.timed(shift_task, 1.3e-3, captured=True, kernels=claimed)
            assert isinstance(result, Fault)
            assert result.verdict is Verdict.REJECTED

    def test_overlap_is_rejected_though_the_baseline_had_to_wait(self, shift_task: Task) -> None:
        """What is at work beside its isolated calls makes those of the submission look short."""
        result = self.timed(shift_task, 1.3e-3, captured=True, late=[True, True, True, False] * 4)
        assert isinstance(result, Fault)
        assert result.verdict is Verdict.REJECTED
        always = self.timed(shift_task, 1.3e-3, captured=True, late=[True] * 99)
        assert isinstance(always, Fault)
        assert always.shared
        but_last = self.timed(shift_task, 1e-3, captured=True, late=[True] * 13 + [False])
        assert isinstance(but_last, Fault)
        now_and_then = self.timed(shift_task, 1e-3, captured=True, late=[False, False, True])
        assert isinstance(now_and_then, Measurement)

    def test_probes_of_waking_runners_are_compared_with_each_other(self, shift_task: Task) -> None:
        # Not with an idle device's: on some machines an awake process delays a probe by 30 µs.
        same = self.timed(shift_task, 1e-3, captured=True, probes=(3e-4, 3e-4), idle=(3e-4, 3e-4))
        assert isinstance(same, Measurement)
        assert same.isolated_s is not None
        assert same.isolated_s.value == pytest.approx(1e-3)
        begun = self.timed(shift_task, 8e-4, captured=True, probes=(9e-4, 0.0))
        assert isinstance(begun, Fault)
        assert "1.70 ms isolated" in begun.message

    def test_a_call_that_takes_a_little_longer_isolated_is_not_ranked(
        self, shift_task: Task
    ) -> None:
        result = self.timed(shift_task, 1.08e-3, captured=True)
        assert isinstance(result, Measurement)
        doubt = linearity_doubt(result)
        assert "1.08 ms isolated, but 1.00 ms among many" in doubt
        task = replace(shift_task, device=Rankable())
        score = make_score(task, [result], self.budget, known_seed=False)
        assert not score.ranked
        assert score.unranked_reason.startswith(doubt)
        looked_at = result.model_copy(update={"overlap_looks": SURE_LOOKS})
        assert linearity_doubt(looked_at) == ""
        assert linearity_doubt(result.model_copy(update={"overlap_looks": SURE_LOOKS - 1})) == doubt
        for isolated_s, captured in ((1.05e-3, True), (4e-3, False)):
            clear = self.timed(shift_task, isolated_s, captured=captured)
            assert isinstance(clear, Measurement)
            assert linearity_doubt(clear) == ""

    def test_where_looks_have_settled_it_the_longer_time_counts(self, shift_task: Task) -> None:
        result = self.timed(shift_task, 1e-3, captured=True)
        assert isinstance(result, Measurement)
        assert result.isolated_s is not None
        late = result.model_copy(update={"isolated_s": result.isolated_s.times(1.3)})
        assert isinstance(slower_where_in_doubt(late), Fault)
        few = late.model_copy(update={"overlap_looks": SURE_LOOKS - 1})
        assert isinstance(slower_where_in_doubt(few), Fault)
        settled = slower_where_in_doubt(late.model_copy(update={"overlap_looks": SURE_LOOKS}))
        assert isinstance(settled, Measurement)
        assert settled.time_s.value == pytest.approx(1.3e-3 + BASELINE_FIRST_S)
        assert settled.speedup.value < result.speedup.value / 1.3
        same = result.model_copy(update={"overlap_looks": SURE_LOOKS})
        assert slower_where_in_doubt(same) == same

    def test_a_call_whose_inputs_are_fetched_ahead_is_not_ranked(self, shift_task: Task) -> None:
        result = self.timed(shift_task, 1e-3, captured=True)
        assert isinstance(result, Measurement)
        task = replace(shift_task, device=Rankable())
        for cached, ranked in ((None, True), (-0.01, True), (0.05, True), (0.12, False)):
            seen = result.model_copy(update={"cached_ahead": cached})
            score = make_score(task, [result, seen], self.budget, known_seed=False)
            assert score.ranked == ranked
        assert "12% of the next one's inputs are in the cache" in score.unranked_reason

    @pytest.mark.parametrize("captured", [True, False])
    def test_isolated_outputs_of_submission_and_baseline_are_checked(
        self, shift_task: Task, monkeypatch: pytest.MonkeyPatch, *, captured: bool
    ) -> None:
        """Of recorded calls until it is settled that they take no longer, of plain ones all."""
        seen: list[tuple[int, bool]] = []
        plain = timed_program.Batch.check

        def noted(batch: Any) -> Any:
            found = plain(batch)
            seen.append((batch.layout.calls, found is None))
            return found

        monkeypatch.setattr(timed_program.Batch, "check", noted)
        result = self.timed(shift_task, 1e-3, captured=captured, baseline_writes=False)
        assert isinstance(result, Measurement)  # whatever the baseline's outputs are
        isolated = [right for calls, right in seen if calls == 1]
        blocks = 2 + (self.budget.min_isolated if captured else self.budget.isolated_blocks)
        assert isolated.count(False) == blocks  # the baseline's: two do not count
        assert isolated.count(True) >= blocks

    def test_the_longer_time_of_plain_calls_counts(self, shift_task: Task) -> None:
        result = self.timed(shift_task, 4e-3, captured=False)
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(4e-3 + BASELINE_FIRST_S)
        assert result.speedup.value == pytest.approx(0.5, rel=0.01)
        shorter = self.timed(shift_task, 0.5e-3, captured=False)
        assert isinstance(shorter, Measurement)
        assert shorter.time_s.value == pytest.approx(1e-3)

    def test_a_batch_of_one_call_is_not_timed_isolated_again(self, shift_task: Task) -> None:
        budget = replace(self.budget, max_calls=1)
        one, two = FakeSession(), FakeSession()
        result = measure_shape(
            shift_task, CASE, fake_program(shift_task, one),
            fake_program(shift_task, two, trusted=True), budget, None, lambda _: None,
        )  # fmt: skip
        assert isinstance(result, Measurement)
        assert result.isolated_s is None
