"""Calls of a batch run one after the other: what looks at them say."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.fake_sessions import BUDGET, CASE, FAULT, FakeSession, fake_program

from harness.device.cpu import CpuDevice
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing.overlap import check_overlap

MANY = 1 << 20


class Card(CpuDevice):
    """The host, as if it recorded calls."""

    captures_graphs = True


class Overlapping(FakeSession):
    """Every call reads its input before the one before has ended."""

    def make_calls(self, batch: Any, during: Callable[[float], None]) -> None:
        x, y = (batch._view(batch._bytes, slots) for slots in batch.layout.slots)
        values = x[0].clone()
        for call in range(batch.layout.calls):
            y[call, :1] = values[:1] + 0.5
            ahead = x[call + 1].clone() if call + 1 < batch.layout.calls else values
            during((call + 0.5) * self.per_call)
            y[call] = values + 0.5
            values = ahead


def looks(
    task: Task, session: FakeSession, calls: int, *, fits: int = MANY, case: Case = CASE
) -> int | Fault:
    program = fake_program(replace(task, device=Card()), session, capture=True)
    program.setup(case, calls)
    budget = replace(BUDGET, max_calls=40, min_looks=30, overlap_s=60.0)
    found = check_overlap(program, program._task, case, session.per_call, fits, budget)
    program.release()
    return found


def test_calls_in_a_row_are_seen_by_as_many_looks_as_wanted(shift_task: Task) -> None:
    session = FakeSession(2.5e-3)
    found = looks(shift_task, session, 20)
    assert isinstance(found, int)
    assert 30 <= found < 60
    assert len({seed for _, seed in session.batches}) == len(session.batches) >= 2


def test_calls_that_overlap_are_refused(shift_task: Task) -> None:
    found = looks(shift_task, Overlapping(2.5e-3), 20)
    assert isinstance(found, Fault)
    assert (found.verdict, found.whose) == (Verdict.REJECTED, "submission")
    assert "had read its inputs before call" in found.message


@pytest.mark.parametrize(("fits", "calls"), [(MANY, 80), (60, 60)])
def test_short_batches_get_more_calls(shift_task: Task, fits: int, calls: int) -> None:
    session = FakeSession(1e-4)
    found = looks(shift_task, session, 40, fits=fits)
    assert isinstance(found, int)
    assert {made for made, _ in session.batches} == {calls}


def test_batches_that_are_short_for_want_of_time_stay_so(shift_task: Task) -> None:
    session = FakeSession(1e-3)
    assert isinstance(looks(shift_task, session, 5), int)
    assert {made for made, _ in session.batches} == {5}


def test_a_fault_while_it_is_looked_at_is_the_submissions(shift_task: Task) -> None:
    session = FakeSession(2.5e-3)
    session.fails = "run"
    assert looks(shift_task, session, 20) == replace(FAULT, whose="submission")


def test_nothing_is_looked_at_where_there_is_one_call_or_no_graph(shift_task: Task) -> None:
    session = FakeSession()
    assert looks(shift_task, session, 1) == 0
    program = fake_program(shift_task, session)
    program.setup(CASE, 20)
    assert check_overlap(program, shift_task, CASE, 1e-3, MANY, BUDGET) == 0
    program.release()
    assert session.batches == []
