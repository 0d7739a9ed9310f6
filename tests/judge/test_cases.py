"""The order of things in a correctness check, with sessions that are made up."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from support.fake_sessions import FAULT, FakeSession

from harness.device.cpu import CpuDevice
from harness.judge import batch as batch_module
from harness.judge import cases as cases_module
from harness.judge.batch import Batch
from harness.judge.cases import CasesOutcome, run_cases
from harness.judge.own_copy import OwnCopy
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.package import Problem
from harness.problem.reference import Reference
from harness.records.result import Verdict
from harness.session.session import Session

CASES = [Case(sizes={"n": n}, scalars={"s": 0.5}) for n in (1, 5, 64)]


class Card(CpuDevice):
    """Runs kernels at once, as a GPU does."""

    emulated = False


class Solver(FakeSession):
    """Solves every case, but for one of size ``wrong`` of which the last element is off."""

    wrong = 0
    stopped = True

    def run(self, batch: Any, seed: str, *, stop: bool, probed: bool) -> Any:
        assert not probed  # its time decides nothing
        self.stopped = stop
        seconds = super().run(batch, seed, stop=stop, probed=False)
        if batch.case.sizes["n"] == self.wrong:
            _, y = batch.layout.slots
            batch.layout.elements(batch._bytes, y)[-1, -1] += 1
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
        def prepare(self, batch: Any, plan: Any, *more: Any) -> Any:
            orders.append((plan.order, plan.order_seed))
            return super().prepare(batch, plan, *more)

    check(shift_task, Told())
    assert [order for order, _ in orders] == [0, 1, 2]
    first = [seed for _, seed in orders]
    assert len(set(first)) == 3
    check(shift_task, Told())
    assert [seed for _, seed in orders[3:]] == first  # by the case and the grade's seed alone


def test_a_case_by_itself_is_run_in_every_order_until_it_fails(shift_task: Task) -> None:
    class Racy(Solver):
        def prepare(self, batch: Any, plan: Any, *more: Any) -> Any:
            orders.append(plan.order)
            self.wrong = 5 if plan.order == 1 else 0
            return super().prepare(batch, plan, *more)

    orders: list[int] = []
    session = cast(Session, Racy())
    outcome = run_cases(session, shift_task, [Case(sizes={"n": 5}, scalars={"s": 0.5})], list)
    assert outcome.fault is not None
    assert orders == [0, 1]
    assert len(outcome.cases) == 1


def test_what_an_earlier_case_left_in_a_full_card_is_good_enough_to_warm_up_with(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
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


class Noted(Reference):
    """One that notes what it is asked for."""

    def __init__(self, problem: Problem, asked: list[str]) -> None:
        super().__init__(problem)
        self.asked = asked

    def expectations(self, case: Case, *given: Any, **options: Any) -> Any:
        self.asked.append(f"expect {case.spec}")
        return super().expectations(case, *given, **options)


class Asked(Solver):
    """Notes when it is asked to make ready, and to make calls."""

    def __init__(self, asked: list[str]) -> None:
        super().__init__()
        self.asked = asked

    def prepare(self, batch: Any, plan: Any, *more: Any) -> Any:
        self.asked.append(f"prepare {batch.case.spec}")
        return super().prepare(batch, plan, *more)

    def run(self, batch: Any, seed: str, **options: Any) -> Any:
        self.asked.append(f"run {batch.case.spec}")
        return super().run(batch, seed, **options)


@pytest.fixture
def asked(shift_task: Task, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    draw = OwnCopy._written

    def noted(own: OwnCopy) -> Any:
        asked.append("draw")
        return draw(own)

    monkeypatch.setattr(OwnCopy, "_written", noted)
    return asked


def test_what_needs_no_runner_is_done_while_one_gets_ready(
    shift_task: Task, asked: list[str]
) -> None:
    task = replace(shift_task, device=Card(), reference=Noted(shift_task.problem, asked))
    session = Asked(asked)
    outcome, _ = check(task, session, CASES[:2])
    assert outcome.fault is None
    one, five = (case.spec for case in CASES[:2])
    assert asked == [
        "draw",
        *(f"prepare {one}", f"expect {one}", f"expect {one}", "draw", f"run {one}"),
        *(f"prepare {five}", f"expect {five}", f"expect {five}", f"run {five}"),
    ]
    assert not session.stopped  # inputs are out of its reach


def test_while_a_first_call_takes_long_more_is_drawn(shift_task: Task, asked: list[str]) -> None:
    task = replace(shift_task, device=Card(), reference=Noted(shift_task.problem, asked))
    session = Asked(asked)
    session.ready_after = 9
    outcome, _ = check(task, session)
    assert outcome.fault is None
    one, five, many = (case.spec for case in CASES)
    assert asked == [
        "draw",
        *(f"prepare {one}", f"expect {one}", f"expect {one}", "draw", "draw", f"run {one}"),
        *(f"prepare {five}", f"expect {five}", f"expect {five}", f"run {five}"),
        *(f"prepare {many}", f"expect {many}", f"expect {many}", f"run {many}"),
    ]


def test_of_what_is_large_nothing_is_done_ahead(
    shift_task: Task, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take memory that the case needs."""
    monkeypatch.setattr(cases_module, "FEW", 0)
    task = replace(shift_task, device=Card(), reference=Noted(shift_task.problem, asked))
    assert check(task, Asked(asked), CASES[:1])[0].fault is None
    one = CASES[0].spec
    assert asked == ["draw", f"prepare {one}", f"run {one}", f"expect {one}", f"expect {one}"]


def test_a_wrong_case_is_found_by_what_was_expected_ahead(shift_task: Task) -> None:
    session = Solver()
    session.wrong = 64
    outcome, _ = check(replace(shift_task, device=Card()), session)
    assert [case.passed for case in outcome.cases] == [True, True, False]
    assert outcome.cases[-1].message == "1 of 64 elements of y are wrong"


def test_a_runner_is_stopped_while_inputs_within_its_reach_are_written(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_module, "has_room", lambda *_: False)
    session = Solver()
    assert check(replace(shift_task, device=Card()), session)[0].fault is None
    assert session.stopped
