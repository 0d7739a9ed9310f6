"""The order of things in a correctness check, with sessions that are made up."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from support.fake_sessions import FAULT, FakeSession

from harness.device.cpu import CpuDevice
from harness.judge.batch import Batch
from harness.judge.cases import CasesOutcome, run_cases
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.session import Session

CASES = [Case(sizes={"n": n}, scalars={"s": 0.5}) for n in (1, 5, 64)]


class Solver(FakeSession):
    """Solves every case, but for one of size ``wrong`` of which the last element is off."""

    wrong = 0

    def run(self, batch: Any, seed: str, *, probed: bool) -> Any:
        assert not probed  # its time decides nothing
        seconds = super().run(batch, seed, probed=False)
        if batch.case.sizes["n"] == self.wrong:
            _, y = batch.layout.slots
            batch._view(batch._bytes, y)[-1, -1] += 1
        return seconds


def check(
    task: Task, session: FakeSession, cases: Sequence[Case] = CASES
) -> tuple[CasesOutcome, int]:
    steps = []
    outcome = run_cases(cast(Session, session), task, cases, lambda: steps.append(1))
    return outcome, len(steps)


def test_right_cases_pass(shift_task: Task) -> None:
    outcome, steps = check(shift_task, Solver())
    assert outcome.fault is None
    assert [case.spec for case in outcome.cases] == [case.spec for case in CASES]
    assert all(case.passed and case.seconds for case in outcome.cases)
    assert steps == len(CASES)


def test_the_first_wrong_case_ends_the_run(shift_task: Task) -> None:
    session = Solver()
    session.wrong = 5
    outcome, _ = check(shift_task, session)
    assert [case.passed for case in outcome.cases] == [True, False]
    assert outcome.fault is not None
    assert outcome.fault.verdict is Verdict.WRONG_ANSWER
    wrong = outcome.cases[-1]
    assert wrong.message == "1 of 5 elements of y are wrong"
    assert wrong.mismatch is not None
    assert wrong.mismatch.first == wrong.mismatch.worst
    assert wrong.mismatch.first.index == (4,)
    assert wrong.mismatch.first.got == pytest.approx(wrong.mismatch.first.expected + 1)


@pytest.mark.parametrize(("point", "cases"), [("map", 0), ("prepare", 1), ("run", 1)])
def test_a_session_fault_fails_its_case(shift_task: Task, point: str, cases: int) -> None:
    outcome, _ = check(shift_task, Solver(fails=point))
    assert outcome.fault == FAULT
    assert [case.passed for case in outcome.cases] == [False] * cases
    assert all(case.message == "no luck" for case in outcome.cases)


def test_each_case_is_called_more_than_once_with_other_inputs(shift_task: Task) -> None:
    session = Solver()
    check(shift_task, session)
    assert all(calls > 1 for calls, _ in session.batches)
    assert session.plan.warmups == 0


def test_memory_is_given_back_where_calls_are_made_one_at_a_time(shift_task: Task) -> None:
    session = Solver()
    for singly in (True, False):
        check(shift_task, session, [replace(CASES[0], singly=singly)])
        assert session.plan.tidy is singly


def test_threads_run_in_another_order_from_case_to_case(shift_task: Task) -> None:
    orders = []

    class Told(Solver):
        def prepare(self, batch: Any, plan: Any) -> Any:
            orders.append((plan.order, plan.order_seed))
            return super().prepare(batch, plan)

    check(shift_task, Told())
    assert [order for order, _ in orders] == [0, 1, 2]
    first = [seed for _, seed in orders]
    assert len(set(first)) == 3
    check(shift_task, Told())
    assert [seed for _, seed in orders[3:]] == first  # by the case and the grade's seed alone


def test_a_case_by_itself_is_run_in_every_order_until_it_fails(shift_task: Task) -> None:
    class Racy(Solver):
        def prepare(self, batch: Any, plan: Any) -> Any:
            orders.append(plan.order)
            self.wrong = 5 if plan.order == 1 else 0
            return super().prepare(batch, plan)

    orders: list[int] = []
    session = cast(Session, Racy())
    outcome = run_cases(session, shift_task, [Case(sizes={"n": 5}, scalars={"s": 0.5})], list)
    assert outcome.fault is not None
    assert orders == [0, 1]
    assert len(outcome.cases) == 1


def test_what_an_earlier_case_left_in_a_full_card_is_good_enough_to_warm_up_with(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Card(CpuDevice):
        emulated = False

    warmed_up = []
    fill = Batch.fill_for_warm_up

    def noted(batch: Batch, seed: str, then: str) -> None:
        warmed_up.append(batch.case)
        fill(batch, seed, then)

    monkeypatch.setattr(Batch, "fill_for_warm_up", noted)
    alone = replace(CASES[1], singly=True)
    task = replace(shift_task, device=Card())
    outcome, _ = check(task, Solver(), [alone, alone, CASES[2], alone])
    assert outcome.fault is None
    assert warmed_up == [alone, CASES[2], alone]
