"""How large cases may be for a submission that is emulated, with sessions that are made up."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from support.fake_sessions import FakeSession

from harness.judge.cases import CasesOutcome, run_cases
from harness.judge.pace import TARGET_S, Pace
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.allowance import Allowance
from harness.session.fault import Fault
from harness.session.session import Session

LIMIT_S = 60.0
LATE = Fault(Verdict.TIME_LIMIT, "did not finish within 60 s of computing or sleeping")


def case(n: int) -> Case:
    return Case(sizes={"n": n}, scalars={"s": 0.5})


class Emulated(FakeSession):
    """Takes what ``cost`` says of a size, of its own time, which it counts; stops at the limit."""

    name = ""

    def __init__(self, cost: Callable[[int], float], ran: list[int]) -> None:
        super().__init__()
        self.cost, self.ran = cost, ran
        self.own_s = 0.0
        self.allowance = Allowance(0)

    def __call__(self) -> float:
        return self.own_s

    def run(self, batch: Any, seed: str, *, stop: bool, probed: bool) -> Any:
        assert stop and not probed  # its time decides nothing
        n = batch.case.sizes["n"]
        self.ran.append(n)
        self.took_s = min(self.cost(n), LIMIT_S)
        with self.allowance.used(self):
            self.own_s += self.took_s
        seconds = super().run(batch, seed, stop=stop, probed=False)
        return LATE if self.cost(n) > LIMIT_S else seconds


def check(
    task: Task, sizes: list[int], cost: Callable[[int], float]
) -> tuple[CasesOutcome, list[int], list[Emulated]]:
    ran: list[int] = []
    made = [Emulated(cost, ran)]

    def again() -> Session:
        made.append(Emulated(cost, ran))
        return cast(Session, made[-1])

    first = cast(Session, made[0])
    outcome = run_cases(first, task, [case(n) for n in sizes], lambda: None, again)
    return outcome, ran, made


def test_cases_that_are_quick_stay_as_they_are(shift_task: Task) -> None:
    sizes = [200_000, 5, 1, 30_000]
    outcome, ran, _ = check(shift_task, sizes, lambda n: 1e-7 * n)
    assert outcome.fault is None
    assert ran == sorted(sizes)  # the cheapest first: they tell of the others
    assert [c.spec for c in outcome.drawn] == [c.spec for c in outcome.cases]


def test_cases_that_would_take_too_long_are_made_smaller(shift_task: Task) -> None:
    def cost(n: int) -> float:
        return 1.5 + 1e-4 * n

    outcome, ran, made = check(shift_task, [1, 1000, 8000, 150_000, 200_000], cost)
    assert outcome.fault is None
    assert ran[:3] == [1, 1000, 8000]
    assert all(n > 8000 and cost(n) <= 1.1 * TARGET_S for n in ran[3:])
    assert [c.spec for c in outcome.cases] == [f"n={n},s=0.5" for n in ran]  # to be replayed
    assert len(made) == 1


@pytest.mark.corpus
def test_all_cases_together_keep_to_their_limit(shift_task: Task) -> None:
    outcome, ran, _ = check(shift_task, [1, *range(20_000, 120_000, 500)], lambda n: 5e-5 * n)
    assert outcome.fault is None
    assert sum(5e-5 * n for n in ran) < shift_task.problem.limits.cases_s


def test_a_case_that_runs_out_of_time_is_tried_smaller(shift_task: Task) -> None:
    outcome, ran, made = check(shift_task, [1, 2, 160_000, 200_000], lambda n: (n / 18_000) ** 2)
    assert outcome.fault is None
    assert ran[2] == 160_000  # nothing had told of it
    assert ran[3] < 45_000
    assert ran[3:] == [n for n in ran[3:] if (n / 18_000) ** 2 < LIMIT_S]
    assert [c.spec for c in outcome.cases] == [f"n={n},s=0.5" for n in (*ran[:2], *ran[3:])]
    assert made[0].closed
    assert cast(Any, outcome.session) is made[1]


@pytest.mark.parametrize("from_size", [1, 3, 120_000, 150_000])
def test_a_submission_that_hangs_runs_out_of_time(shift_task: Task, from_size: int) -> None:
    def cost(n: int) -> float:
        return 1e9 if n >= from_size else 1e-6 * n

    outcome, ran, made = check(shift_task, [1, 3, 60_000, 160_000, 190_000], cost)
    assert outcome.fault == LATE
    assert outcome.cases[-1].message == LATE.message
    assert sum(min(cost(n), LIMIT_S) for n in ran) < 5 * LIMIT_S
    assert cast(Any, outcome.session) is made[0]  # whose output is shown


def test_a_wrong_answer_of_a_smaller_case_is_wrong(shift_task: Task) -> None:
    class Wrong(Emulated):
        def run(self, batch: Any, seed: str, **options: Any) -> Any:
            seconds = super().run(batch, seed, **options)
            batch.outputs(0)["y"].add_(1)
            return seconds

    ran: list[int] = []

    def again() -> Session:
        return cast(Session, Wrong(lambda _: 10.0, ran))

    first = cast(Session, Emulated(lambda n: 1e9 if n > 9 else 0.0, ran))
    outcome = run_cases(first, shift_task, [case(1), case(200_000)], lambda: None, again)
    assert outcome.fault is not None
    assert outcome.fault.verdict is Verdict.WRONG_ANSWER
    assert outcome.drawn[1].sizes["n"] == ran[-1] < 200_000


def test_a_case_by_itself_is_run_as_it_is(shift_task: Task) -> None:
    outcome, ran, made = check(shift_task, [200_000], lambda _: 1e9)
    assert outcome.fault == LATE
    assert ran == [200_000]
    assert len(made) == 1


def test_noise_of_cheap_cases_says_nothing(shift_task: Task) -> None:
    declared = shift_task.problem.declared
    assert declared is not None
    pace = Pace(shift_task, declared)
    pace.note(case(1), 0.02)
    pace.note(case(2), 0.09)
    assert pace.fitting(case(200_000), 300, 10) == case(200_000)
