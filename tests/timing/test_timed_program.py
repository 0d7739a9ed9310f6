"""Who takes part in a measurement: capture, restarts, memory, and an idle device."""

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.fake_sessions import BUDGET, CASE, FAULT, FakeSession, contender

from harness.judge.task import Task
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.timing.audit import IdleBaseline, busy_device_fault
from harness.timing.measure import measure_shape
from harness.timing.timed_program import TimedProgram, prepare_for_timing


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
        joined = prepare_for_timing(cast(Session, session), self.restart, shift_task, CASE)
        assert isinstance(joined, TimedProgram)
        assert not joined.capture
        assert joined.session is session

    def test_captured(self, shift_task: Task) -> None:
        session = FakeSession(captures=True)
        task = self.on(shift_task, "cuda")
        joined = prepare_for_timing(cast(Session, session), self.restart, task, CASE)
        assert isinstance(joined, TimedProgram)
        assert joined.capture
        assert joined.session is session
        assert not session.closed

    @pytest.mark.parametrize("fails", ["", "prepare", "map"])
    def test_a_process_that_saw_a_failed_capture_is_not_used(
        self, shift_task: Task, fails: str
    ) -> None:
        session = FakeSession(fails=fails)
        joined = prepare_for_timing(
            cast(Session, session), self.restart, self.on(shift_task, "cuda"), CASE
        )
        assert isinstance(joined, TimedProgram)
        assert session.closed
        assert joined.session is self.fresh
        assert not joined.capture

    def test_a_fresh_one_may_fail_too(self, shift_task: Task) -> None:
        task = self.on(shift_task, "cuda")
        assert prepare_for_timing(cast(Session, FakeSession()), lambda: FAULT, task, CASE) == FAULT


def test_releasing_gives_the_memory_back(shift_task: Task) -> None:
    one = contender(shift_task, FakeSession())
    assert one.setup(CASE, 4) is None
    assert one._arena is not None
    one.release()
    one.release()
    assert one._arena is None


class TestIdle:
    """What probes show; a usual one takes 0.04 ms before *go* and 0.2 ms after *done*."""

    usual = IdleBaseline(4e-5, 2e-4)

    def timed(
        self, task: Task, *probes: tuple[float, float], gain: float = 0.0
    ) -> Measurement | Fault:
        """``gain``: what a batch takes less, seconds, that something worked ahead for."""
        seen = itertools.cycle(probes)

        class Probed(FakeSession):
            def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
                self.probes = next(seen)
                seconds = super().run(batch, seed, stop=stop)
                ahead = self.probes[0] > 1e-3
                return seconds - gain if ahead and not isinstance(seconds, Fault) else seconds

        session = Probed()
        one = TimedProgram(
            cast(Session, session), task, trusted=False, capture=False, usual=self.usual
        )
        other = contender(task, FakeSession(), trusted=True)
        return measure_shape(task, CASE, one, other, BUDGET, None, lambda _: None)

    def test_at_rest(self, shift_task: Task) -> None:
        result = self.timed(shift_task, (3e-5, 2.3e-4), (5e-5, 1e-4))
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(1e-3)

    def test_now_and_then_the_host_is_late(self, shift_task: Task) -> None:
        late = (3e-3, 2e-4)
        assert isinstance(self.timed(shift_task, late, self.ok, self.ok), Measurement)

    @pytest.mark.parametrize("every", [2, 3, 4])
    def test_what_was_begun_early_in_some_batches_does_not_count(
        self, shift_task: Task, every: int
    ) -> None:
        """The lower quartile would be theirs, though most batches are as they must be."""
        result = self.timed(shift_task, *[self.ok] * (every - 1), (3e-3, 2e-4), gain=1e-2)
        if isinstance(result, Fault):  # half of them, and one more
            assert (every, result.verdict) == (2, Verdict.REJECTED)
        else:
            assert result.time_s.value == pytest.approx(1e-3)
            assert len(result.samples_s) == BUDGET.min_blocks

    def test_there_is_an_end_to_that(self, shift_task: Task) -> None:
        """Not in the batches that a submission may take for sizing, but in all others."""
        result = self.timed(shift_task, *[self.ok] * 4, *[(3e-3, 2e-4)] * 1000, gain=1e-2)
        assert isinstance(result, Fault)
        assert (result.verdict, result.shared) == (Verdict.REJECTED, True)
        assert "before the inputs" in result.message

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
        fault = busy_device_fault(lambda: self.usual.before_s + excess_s, self.usual)
        assert (fault is not None) is busy

    def test_who_is_late_now_and_then_is_idle(self) -> None:
        probes = iter([2e-3, 4e-5, 4e-5, 5e-3, 4e-5] * 2)
        assert busy_device_fault(lambda: next(probes), self.usual) is None

    def test_work_after_done_counts(self, shift_task: Task) -> None:
        result = self.timed(shift_task, (4e-5, 5e-4))
        assert isinstance(result, Measurement)
        calls = result.calls_per_batch
        assert result.time_s.value == pytest.approx(1e-3 + 3e-4 / calls)
