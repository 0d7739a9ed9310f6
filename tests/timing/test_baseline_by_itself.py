"""The baseline's time when the submission has ended, against its time beside it."""

from collections.abc import Iterator, Sequence
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

from harness.device.base import ClockReading
from harness.device.cpu import CpuDevice
from harness.grading.result_builder import make_score
from harness.judge.task import Task
from harness.records.measurement import Clocks, Measurement
from harness.timing.baseline_by_itself import keep_times, slowed_baseline, time_by_itself
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.measure import measure_shape
from harness.timing.timed_program import BaselineError


class Rankable(CpuDevice):
    """The host, as if its times stood on a board."""

    rankable = True


class FakeMonitor:
    """Tells the clocks it was given, one after the other; then the last one."""

    def __init__(self, clocks: Sequence[int]) -> None:
        self.left = list(clocks)

    def clocks(self) -> ClockReading | None:
        mhz = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        return ClockReading(sm_mhz=mhz, memory_mhz=2600, capped=False)


def again(
    task: Task,
    beside_s: float,
    by_itself_s: float,
    *,
    beside_mhz: int | None = None,
    clocks: Sequence[int] = (),
    noise: Iterator[float] | None = None,
    fails: str = "",
) -> tuple[Measurement, FakeSession]:
    """A measurement whose baseline took ``beside_s``, once it was timed by itself, and how."""
    session = FakeSession(beside_s)
    monitor: Any = FakeMonitor(clocks) if clocks else None
    baseline = fake_program(task, session, trusted=True, monitor=monitor)
    submission = fake_program(task, FakeSession(1e-3))
    measured = measure_shape(task, CASE, submission, baseline, BUDGET, None, lambda _: None)
    assert isinstance(measured, Measurement)
    if beside_mhz is not None:
        seen = (beside_mhz, beside_mhz)
        beside = Clocks(
            sm_mhz=seen,
            baseline_sm_mhz=seen,
            memory_mhz=(2600, 2600),
            baseline_memory_mhz=(2600, 2600),
            blocks=5,
            blocks_apart=0,
        )
        measured = measured.model_copy(update={"clocks": beside})
    session.per_call, session.fails, session.noise = by_itself_s, fails, noise
    session.batches.clear()
    overhead = cast(OverheadProbe, FakeOverheadProbe(0.0))
    try:
        return (
            time_by_itself(baseline, task, CASE, measured, BUDGET, overhead),
            session,
        )
    finally:
        baseline.release()
        submission.release()


@pytest.mark.parametrize("by_itself_s", [2.1e-3, 2e-3, 1.97e-3])
def test_a_baseline_that_takes_as_long_was_not_slowed_down(
    shift_task: Task, by_itself_s: float
) -> None:
    measured, session = again(shift_task, 2e-3, by_itself_s)
    assert measured.baseline_by_itself_s is not None
    assert measured.baseline_by_itself_s.value == pytest.approx(by_itself_s)
    assert slowed_baseline(measured) == ""
    assert len(session.batches) == 4
    assert {calls for calls, _ in session.batches} == {measured.baseline_calls_per_batch}


def test_a_baseline_that_was_slowed_down_is_said_and_not_ranked(shift_task: Task) -> None:
    measured, session = again(shift_task, 2e-3, 1.6e-3)
    reason = slowed_baseline(measured)
    assert reason == (
        "n=50,s=0.5: the baseline took 2.00 ms beside the submission, and 1.60 ms when that had "
        "ended: something slowed it down"
    )
    assert len(session.batches) == 8  # asked again before it is said
    task = replace(shift_task, device=Rankable())
    score = make_score(task, [measured], BUDGET, known_seed=False)
    assert (score.ranked, score.unranked_reason) == (False, reason)


def test_a_lower_clock_beside_the_submission_explains_a_longer_time(shift_task: Task) -> None:
    measured, _ = again(shift_task, 2e-3, 1.8e-3, beside_mhz=1780, clocks=[1950, 1980])
    assert slowed_baseline(measured) == ""
    measured, _ = again(shift_task, 2e-3, 1.6e-3, beside_mhz=1780, clocks=[1950, 1980])
    assert slowed_baseline(measured) != ""
    measured, _ = again(shift_task, 2e-3, 1.6e-3, beside_mhz=1980, clocks=[1500])
    assert slowed_baseline(measured) != ""


def test_what_may_be_noise_is_not_said(shift_task: Task) -> None:
    offs = iter([0.0, -0.25, 0.1, -0.3, 0.05, -0.2, 0.2, 0.1])
    measured, session = again(shift_task, 2e-3, 1.9e-3, noise=offs)
    assert slowed_baseline(measured) == ""
    assert len(session.batches) in (4, 8)


def test_a_baseline_that_fails_is_an_error(shift_task: Task) -> None:
    with pytest.raises(BaselineError, match=FAULT.message):
        again(shift_task, 2e-3, 2e-3, fails="run")


def test_times_are_kept_of_batches_as_long_as_any(shift_task: Task) -> None:
    session = FakeSession(1e-3, constant=3e-4)
    session.kernels = 2.0
    baseline = fake_program(shift_task, session, trusted=True)
    overhead = FakeOverheadProbe(3e-4)
    probe = cast(OverheadProbe, overhead)
    kept = keep_times(baseline, shift_task, CASE, BUDGET, probe, warm_s=0.05)
    assert kept.calls == 20
    assert kept.kernels == 2.0
    assert len(kept.times) == 8
    assert [each.batch_s - each.null_batch_s for each in kept.times] == pytest.approx([1e-3] * 8)
    assert [calls for calls, _ in session.batches[-11:]] == [20] * 11  # 3 of 20 ms to warm up


def test_a_baseline_whose_times_cannot_be_kept_is_an_error(shift_task: Task) -> None:
    baseline = fake_program(shift_task, FakeSession(fails="run"), trusted=True)
    with pytest.raises(BaselineError):
        keep_times(baseline, shift_task, CASE, BUDGET, None, 0.0)
