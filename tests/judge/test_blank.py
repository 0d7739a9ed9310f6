"""Blank batches, with a session that is made up."""

from typing import Any, cast

import pytest
import torch
from fake_sessions import FakeSession

from harness.errors import MachineError
from harness.judge.audit import Usual
from harness.judge.batch import Batch
from harness.judge.blank import Blank, empty_problem
from harness.judge.memory import Device
from harness.judge.session import Session
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.reference import Reference


class Empty(FakeSession):
    """Takes its constant, and more the more was filled, by a clock that is made up."""

    probes = (40e-6, 180e-6)

    def run(self, batch: Any, seed: str, *, stop: bool = True) -> Any:
        self.batches.append((batch.layout.calls, seed))
        if self.fails == "run":
            return super().run(batch, seed, stop=stop)
        return self.constant + self.per_call * batch.layout.calls


def blank(session: FakeSession) -> Blank:
    return Blank(cast(Session, session), empty_problem(), Device())


def test_the_package_is_whole() -> None:
    problem = empty_problem()
    assert problem.complete
    x = torch.tensor([1.0, -2.0], dtype=torch.float64)
    expected = Reference(problem).expected(problem, Case(sizes={"n": 2}), {"x": x})
    assert expected["y"].tolist() == [2.0, -1.0]


def test_what_a_batch_costs_on_small_buffers() -> None:
    session = Empty(0.0, constant=2e-4)
    found = blank(session)
    assert found.batch_s == pytest.approx(2e-4)
    assert found.usual == Usual(before_s=40e-6, after_s=180e-6)
    assert session.plan.capture is False  # no GPU here
    assert len({seed for _, seed in session.batches}) == len(session.batches)
    found.close()


def test_the_batch_of_another_is_timed_empty(shift_task: Task) -> None:
    session = Empty(1e-5, constant=2e-4)
    found = blank(session)
    case = Case(sizes={"n": 50}, scalars={"s": 0.5})
    with_three = Batch(shift_task, case, Device().arena(1 << 20), 3)
    assert found.time(with_three, "seed") == pytest.approx(2.3e-4)
    assert session.batches[-1] == (3, "seed")
    found.settle("seed")
    assert session.batches[-1] == (1, "seed/before")


@pytest.mark.parametrize("point", ["map", "prepare", "run"])
def test_a_kernel_of_ours_that_fails_is_the_machines_fault(point: str) -> None:
    with pytest.raises(MachineError, match="the empty kernel fails: no luck"):
        blank(Empty(fails=point))
