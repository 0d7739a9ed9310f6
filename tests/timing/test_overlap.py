"""Calls of a batch run one after the other: what looks at them say."""

import statistics
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import pytest
from support.fake_sessions import BUDGET, CASE, FAULT, FakeSession, fake_program
from support.host_clock import HostClock

from harness.device.base import ClockReading
from harness.device.cpu import CpuDevice
from harness.judge.early_reads import MAX_LOOKS, EarlyReads, Found
from harness.judge.task import Task
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing import overlap
from harness.timing.audit import SURE_LOOKS
from harness.timing.measure import measure_shape
from harness.timing.overlap import OverlapAudit
from harness.timing.timed_program import TimedProgram


class Card(CpuDevice):
    """The host, as if it recorded calls."""

    captures_graphs = True

    def clock(self) -> HostClock:  # type: ignore[override]
        return HostClock()


class Overlapping(FakeSession):
    """Every call reads its input before the one before has ended."""

    def make_calls(self, batch: Any, during: Callable[[float], None]) -> None:
        x, y = (batch.layout.elements(batch._bytes, slots) for slots in batch.layout.slots)
        values = x[0].clone()
        for call in range(batch.layout.calls):
            y[call, :1] = values[:1] + 0.5
            ahead = x[call + 1].clone() if call + 1 < batch.layout.calls else values
            during((call + 0.5) * self.per_call)
            y[call] = values + 0.5
            values = ahead


class Glitching(Overlapping):
    """Seems to overlap in the first batches that are looked at; ``glitches`` says in how many."""

    glitches = 1

    def make_calls(self, batch: Any, during: Callable[[float], None]) -> None:
        if self.glitches:
            self.glitches -= 1
            super().make_calls(batch, during)
        else:
            FakeSession.make_calls(self, batch, during)


class GoneThen(Glitching):
    """The same, and then too quick for any look."""

    def make_calls(self, batch: Any, during: Callable[[float], None]) -> None:
        super().make_calls(batch, during if self.glitches else lambda _: None)


class HeadStart(FakeSession):
    """The first eight calls take an eighth of the time, however long the others take."""

    def call_s(self, number: int) -> float:
        return self.per_call / 8 if number < 8 else self.per_call


class Unseen(FakeSession):
    """Is done before anybody looks."""

    def make_calls(self, batch: Any, during: Callable[[float], None]) -> None:
        super().make_calls(batch, lambda _: None)


def audited(
    task: Task, *sessions: FakeSession, calls: int = 20, overlap_s: float = 60.0
) -> tuple[OverlapAudit, Any]:
    """The audit when it has finished, and the fault if there is one."""
    task = replace(task, device=Card())
    programs = [fake_program(task, session, capture=True) for session in sessions]
    for program, session in zip(programs, sessions, strict=True):
        program.setup(CASE, calls)
        program.estimated_call_s = session.per_call
    audit = OverlapAudit(programs, task, CASE, replace(BUDGET, min_looks=30, overlap_s=overlap_s))
    fault = audit.finish([session.per_call for session in sessions])
    for program in programs:
        program.release()
    return audit, fault


def test_calls_in_a_row_are_seen_by_as_many_looks_as_wanted(shift_task: Task) -> None:
    session = FakeSession(2.5e-3)
    audit, fault = audited(shift_task, session)
    assert fault is None
    assert 30 <= audit.looks < 60
    assert len({seed for _, seed in session.batches}) == len(session.batches) >= 2
    assert audit.spent_s > 0


def test_calls_that_overlap_are_refused(shift_task: Task) -> None:
    _, fault = audited(shift_task, Overlapping(2.5e-3))
    assert (fault.verdict, fault.whose) == (Verdict.REJECTED, "submission")
    assert "had read its inputs before call" in fault.message


def test_calls_that_are_done_sooner_at_the_beginning_are_refused(shift_task: Task) -> None:
    """No look can come in the first 2 ms, but the first that comes tells what was done by then."""
    _, fault = audited(shift_task, HeadStart(2.5e-3))
    assert (fault.verdict, fault.whose, fault.shared) == (Verdict.REJECTED, "submission", True)
    assert "and so many take" in fault.message


def test_calls_under_a_power_cap_may_be_done_sooner(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock falls while a batch is at work."""
    reading = ClockReading(sm_mhz=1200, memory_mhz=2600, capped=True)
    plain = TimedProgram.__init__

    def capped(program: TimedProgram, *given: Any, **options: Any) -> None:
        plain(program, *given, **options)
        program.clocks = reading

    monkeypatch.setattr(TimedProgram, "__init__", capped)
    audit, fault = audited(shift_task, HeadStart(2.5e-3))
    assert fault is None
    assert audit.looks >= 30


def test_calls_that_are_done_a_little_sooner_are_not(shift_task: Task) -> None:
    """A time is not known to a part in ten, nor where the slice of a look begins."""
    session = FakeSession(2.5e-3)
    audit, _ = audited(shift_task, session)
    (watched,) = audit._watched
    for factor, faulty in ((1.0, False), (1.1, False), (3.0, True)):
        assert (watched.ahead_fault(factor * session.per_call) is not None) == faulty
    del watched._progress[2:]
    assert watched.ahead_fault(3 * session.per_call) is None, "two batches are not enough"


class Clock:
    """Reads that note when they are looked at, by a clock that is made up."""

    def __init__(self) -> None:
        self.now, self.looks = 0.0, list[float]()

    def look(self) -> None:
        self.looks.append(self.now)


def moments(batch_s: float) -> list[float]:
    """When a batch of this length is looked at."""
    clock = Clock()
    looker = overlap._Looker(cast(EarlyReads, clock), batch_s)
    for step in range(round(batch_s * 1e5) + 1):
        clock.now = step * 1e-5
        looker(clock.now)
    return clock.looks


@pytest.mark.parametrize("batch_s", [0.001, 0.003, 0.025, 1.0])
def test_looks_come_no_sooner_than_a_slice_after_go_and_after_one_another(batch_s: float) -> None:
    """Within a slice each would wait for its end, which is at the same call of every batch."""
    for _ in range(30):
        looks = moments(batch_s)
        assert all(moment >= min(overlap.SLICE_S, batch_s) for moment in looks)
        assert all(b - a >= overlap.APART_S for a, b in pairwise(looks))
        assert len(looks) <= MAX_LOOKS


def test_a_batch_is_looked_at_anywhere_and_often() -> None:
    batches = [moments(0.025) for _ in range(50)]
    assert 5 <= statistics.fmean(map(len, batches)) <= 8
    for number in range(4):
        at = [looks[number] for looks in batches]
        assert max(at) - min(at) > overlap._SPREAD_S


def test_what_is_seen_in_one_batch_and_never_again_is_no_fault(shift_task: Task) -> None:
    audit, fault = audited(shift_task, Glitching(2.5e-3))
    assert fault is None
    assert audit.looks >= 30


def test_what_is_seen_twice_is_a_fault(shift_task: Task) -> None:
    session = Glitching(2.5e-3)
    session.glitches = 2
    _, fault = audited(shift_task, session)
    assert fault.verdict is Verdict.REJECTED


def test_what_is_seen_once_and_cannot_be_looked_for_again_is_a_fault(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlap, "AGAIN_S", 0.2)
    _, fault = audited(shift_task, GoneThen(2.5e-3), overlap_s=0.1)
    assert fault.verdict is Verdict.REJECTED


def test_both_of_two_submissions_are_looked_at(shift_task: Task) -> None:
    honest = FakeSession(2.5e-3)
    audit, fault = audited(shift_task, honest, FakeSession(2.5e-3))
    assert fault is None
    assert audit.looks >= 30
    _, fault = audited(shift_task, honest, Overlapping(2.5e-3))
    assert fault.verdict is Verdict.REJECTED


def test_a_fault_while_it_is_looked_at_is_the_submissions(shift_task: Task) -> None:
    session = FakeSession(2.5e-3)
    session.fails = "run"
    assert audited(shift_task, session)[1] == replace(FAULT, whose="submission")


def test_it_ends_when_the_time_is_over(shift_task: Task) -> None:
    task = replace(shift_task, device=Card())
    program = fake_program(task, Unseen(), capture=True)
    program.setup(CASE, 2)
    audit = OverlapAudit([program], task, CASE, replace(BUDGET, overlap_s=0.2))
    assert audit.finish([1e-3]) is None
    assert 0.2 < audit.spent_s < 10
    program.release()


def test_nothing_is_looked_at_where_there_is_one_call_no_graph_or_trust(shift_task: Task) -> None:
    session = FakeSession()
    audit, fault = audited(shift_task, session, calls=1)
    assert (audit.looks, fault) == (0, None)
    program = fake_program(shift_task, session)
    trusted = fake_program(replace(shift_task, device=Card()), session, trusted=True)
    for audit in (
        OverlapAudit([program], shift_task, CASE, BUDGET),
        OverlapAudit([trusted], replace(shift_task, device=Card()), CASE, BUDGET),
    ):
        assert [audit.after_block() for _ in range(20)] == [None] * 20
        assert (audit.finish([1e-3]), audit.looks) == (None, 0)
    assert session.batches == []


@pytest.mark.parametrize(("looks", "cached"), [(2, None), (3, 0.5)])
def test_what_was_cached_ahead_is_known_from_three_looks_on(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch, looks: int, cached: float | None
) -> None:
    task = replace(shift_task, device=Card())
    program = fake_program(task, FakeSession(2e-3), capture=True)
    program.setup(CASE, 20)
    monkeypatch.setattr(EarlyReads, "found", lambda _: Found(1, cached=(0.5,)))
    audit = OverlapAudit([program], task, CASE, replace(BUDGET, min_looks=looks))
    assert audit.finish([2e-3]) is None
    assert (audit.looks, audit.cached_ahead) == (looks, cached)
    program.release()


class SlowAlone(FakeSession):
    """Recorded calls that take longer in a batch of one."""

    def run(self, batch: Any, seed: str, *, stop: bool = True, **options: Any) -> float | Fault:
        seconds = super().run(batch, seed, stop=stop, **options)
        return seconds if stop or isinstance(seconds, Fault) else 1.3 * seconds


class OverlappingSlowAlone(SlowAlone, Overlapping):
    """The same, since among many they overlap."""


@pytest.mark.parametrize(("kind", "accepted"), [(SlowAlone, True), (OverlappingSlowAlone, False)])
def test_calls_that_take_longer_alone_are_looked_at_until_that_settles_it(
    shift_task: Task, kind: type[FakeSession], accepted: bool
) -> None:
    """Of long calls too few are seen in the time that others need."""
    task = replace(shift_task, device=Card())
    pair = (
        fake_program(task, kind(2e-3, captures=True), capture=True),
        fake_program(task, FakeSession(2e-3), trusted=True),
    )
    budget = replace(BUDGET, min_looks=2 * SURE_LOOKS, overlap_s=0.0, isolated_blocks=9)
    measured = measure_shape(task, CASE, *pair, budget, None, lambda _: None)
    for program in pair:
        program.release()
    if accepted:
        assert isinstance(measured, Measurement)
        assert measured.overlap_looks is not None
        assert measured.overlap_looks >= SURE_LOOKS
        assert measured.time_s.value == pytest.approx(2.6e-3, rel=0.02)
    else:
        assert isinstance(measured, Fault)
        assert measured.verdict is Verdict.REJECTED
        assert "had read its inputs before call" in measured.message


def test_batches_that_are_looked_at_are_mixed_among_those_that_count(shift_task: Task) -> None:
    task = replace(shift_task, device=Card())
    session = FakeSession(2e-3)
    pair = fake_program(task, session), fake_program(task, FakeSession(2e-3), trusted=True)
    budget = replace(BUDGET, min_blocks=30, max_blocks=30, min_looks=200)
    measured = measure_shape(task, CASE, *pair, budget, None, lambda _: None)
    assert isinstance(measured, Measurement)
    assert measured.overlap_looks is not None
    assert measured.overlap_looks >= SURE_LOOKS
    looked_at = ["/overlap/" in seed for _, seed in session.batches]
    assert any(looked_at[: looked_at.index(False) + 20])
    assert len({calls for calls, seed in session.batches if "/size/" not in seed}) == 1
    for program in pair:
        program.release()
