"""Timed programs: capture, restarts, memory, and whether the device is idle around batches."""

import itertools
from dataclasses import replace
from typing import Any, cast

import pytest
from support.fake_sessions import BUDGET, CASE, FAULT, FakeSession, fake_program

from harness.device.cpu import CpuDevice
from harness.judge.task import Task
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.timing.audit import IdleBaseline, busy_device_fault
from harness.timing.measure import measure_shape
from harness.timing.timed_program import TimedProgram, prepare_for_timing


class Capturing(CpuDevice):
    """The host, as if calls could be recorded on it."""

    captures_graphs = True


class TestPrepareForTiming:
    def restart(self) -> Session:
        return cast(Session, self.fresh)

    fresh = FakeSession()

    def test_nothing_is_captured_where_the_device_cannot(self, shift_task: Task) -> None:
        session = FakeSession()
        prepared = prepare_for_timing(cast(Session, session), self.restart, shift_task, CASE)
        assert isinstance(prepared, TimedProgram)
        assert not prepared.capture
        assert prepared.session is session

    def test_calls_are_captured_where_the_device_can(self, shift_task: Task) -> None:
        session = FakeSession(captures=True)
        task = replace(shift_task, device=Capturing())
        prepared = prepare_for_timing(cast(Session, session), self.restart, task, CASE)
        assert isinstance(prepared, TimedProgram)
        assert prepared.capture
        assert prepared.session is session
        assert not session.closed

    @pytest.mark.parametrize("fails", ["", "prepare", "map"])
    def test_a_process_that_saw_a_failed_capture_is_not_used(
        self, shift_task: Task, fails: str
    ) -> None:
        session = FakeSession(fails=fails)
        prepared = prepare_for_timing(
            cast(Session, session), self.restart, replace(shift_task, device=Capturing()), CASE
        )
        assert isinstance(prepared, TimedProgram)
        assert session.closed
        assert prepared.session is self.fresh
        assert not prepared.capture

    def test_a_fresh_process_may_fail_too(self, shift_task: Task) -> None:
        task = replace(shift_task, device=Capturing())
        assert prepare_for_timing(cast(Session, FakeSession()), lambda: FAULT, task, CASE) == FAULT


def test_a_batch_is_expected_to_take_what_its_calls_took_before(shift_task: Task) -> None:
    session = FakeSession(2e-3)
    one = fake_program(shift_task, session)
    assert one.setup(CASE, 4) is None
    assert one.time("first") == pytest.approx(8e-3)
    one.estimated_call_s = 2e-3
    assert one.time("second") == pytest.approx(8e-3)
    assert session.expected == pytest.approx([0.0, 8e-3])


def test_release_gives_the_memory_back(shift_task: Task) -> None:
    one = fake_program(shift_task, FakeSession())
    assert one.setup(CASE, 4) is None
    assert one._arena is not None
    one.release()
    one.release()
    assert one._arena is None


class TestIdleProbes:
    """What probes show; on an idle device 0.04 ms before *go* and 0.2 ms after *done*."""

    idle = IdleBaseline(4e-5, 2e-4)

    def timed(
        self, task: Task, *probes: tuple[float, float], gain: float = 0.0
    ) -> Measurement | Fault:
        """``gain``: what a batch takes less, seconds, that something worked ahead for."""
        seen = itertools.cycle(probes)

        class Probed(FakeSession):
            def run(
                self, batch: Any, seed: str, *, stop: bool = True, **options: Any
            ) -> float | Fault:
                self.probes = next(seen)
                seconds = super().run(batch, seed, stop=stop, **options)
                ahead = self.probes[0] > 1e-3
                return seconds - gain if ahead and not isinstance(seconds, Fault) else seconds

        submission = fake_program(task, Probed(), idle=self.idle)
        baseline = fake_program(task, FakeSession(), trusted=True)
        return measure_shape(task, CASE, submission, baseline, BUDGET, None, lambda _: None)

    def test_probes_of_an_idle_device_change_nothing(self, shift_task: Task) -> None:
        result = self.timed(shift_task, (3e-5, 2.3e-4), (5e-5, 1e-4))
        assert isinstance(result, Measurement)
        assert result.time_s.value == pytest.approx(1e-3)

    def test_a_probe_that_is_late_now_and_then_is_no_fault(self, shift_task: Task) -> None:
        late = (3e-3, 2e-4)
        assert isinstance(self.timed(shift_task, late, self.ok, self.ok), Measurement)

    @pytest.mark.parametrize("every", [2, 3, 4])
    def test_batches_whose_work_began_early_do_not_count(
        self, shift_task: Task, every: int
    ) -> None:
        """The lower quartile would be theirs, though most batches are as they must be."""
        result = self.timed(shift_task, *[self.ok] * (every - 1), (3e-3, 2e-4), gain=1e-2)
        if isinstance(result, Fault):  # half of them, and one more
            assert (every, result.verdict) == (2, Verdict.REJECTED)
        else:
            assert result.time_s.value == pytest.approx(1e-3)
            assert len(result.samples_s) == BUDGET.min_blocks

    def test_work_begun_early_in_most_batches_is_rejected(self, shift_task: Task) -> None:
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
    def test_a_device_at_work_around_batches_is_a_shared_fault(
        self, shift_task: Task, probes: tuple[float, float], words: str
    ) -> None:
        result = self.timed(shift_task, probes)
        assert isinstance(result, Fault)
        assert result.verdict is Verdict.REJECTED
        assert result.shared
        assert words in result.message

    @pytest.mark.parametrize(("excess_s", "busy"), [(0.0, False), (1e-4, False), (2e-3, True)])
    def test_busy_device_fault_follows_the_probe(self, excess_s: float, *, busy: bool) -> None:
        fault = busy_device_fault(lambda: self.idle.before_s + excess_s, self.idle)
        assert (fault is not None) is busy

    def test_busy_device_fault_ignores_single_late_probes(self) -> None:
        probes = iter([2e-3, 4e-5, 4e-5, 5e-3, 4e-5] * 2)
        assert busy_device_fault(lambda: next(probes), self.idle) is None

    def test_work_after_done_is_added_to_the_time(self, shift_task: Task) -> None:
        result = self.timed(shift_task, (4e-5, 5e-4))
        assert isinstance(result, Measurement)
        calls = result.calls_per_batch
        assert result.time_s.value == pytest.approx(1e-3 + 3e-4 / calls)


class Warmed(CpuDevice):
    """The host, as if programs were warmed up on it before they are timed."""

    emulated = False


class TestCompany:
    """Other processes of a submission, while it is timed."""

    def timed(self, task: Task, processes: int, *, trusted: bool = False) -> float | Fault:
        session = FakeSession()
        session.processes = processes
        program = fake_program(task, session, trusted=trusted)
        assert program.setup(CASE, 2) is None
        return program.time("seed")

    def test_one_process_is_timed(self, shift_task: Task) -> None:
        assert isinstance(self.timed(replace(shift_task, device=Warmed()), 1), float)

    def test_more_are_refused_with_their_number(self, shift_task: Task) -> None:
        fault = self.timed(replace(shift_task, device=Warmed()), 3)
        assert isinstance(fault, Fault)
        assert fault.verdict is Verdict.REJECTED
        assert "2 more of it are still there" in fault.message

    def test_they_may_be_there_where_times_decide_nothing(self, shift_task: Task) -> None:
        assert isinstance(self.timed(shift_task, 3), float)

    def test_a_trusted_program_is_not_asked(self, shift_task: Task) -> None:
        task = replace(shift_task, device=Warmed())
        assert isinstance(self.timed(task, 3, trusted=True), float)


def test_outputs_written_after_done_are_a_wrong_answer(shift_task: Task) -> None:
    class Late(FakeSession):
        def run(self, batch: Any, seed: str, *, stop: bool = True, **options: Any) -> float | Fault:
            self.writes = False
            seconds = super().run(batch, seed, stop=stop, **options)
            x, y = batch.layout.slots
            batch.layout.elements(batch._bytes, y).copy_(
                batch.layout.elements(batch._bytes, x) + 0.5
            )
            return seconds

    program = fake_program(shift_task, Late())
    assert program.setup(CASE, 4) is None
    fault = program.time("seed")
    assert isinstance(fault, Fault)
    assert fault.verdict is Verdict.WRONG_ANSWER
    assert "written after the submission said it was done in call 1 of 4" in fault.message
