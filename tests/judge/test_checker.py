"""Whether all calls are right, told at once; with a graph on a GPU."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from harness.errors import ProblemError
from harness.judge.checker import Checker
from harness.judge.device import open_device
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.reference import Reference

CASE = Case(sizes={"n": 50}, scalars={"s": 0.5})
CALLS = 20

Call = tuple[Mapping[str, Tensor], Mapping[str, Tensor]]


def calls(task: Task, wrong: int | None = None) -> Iterator[Call]:
    """y = x + s of other numbers each; the last element of call ``wrong`` is off."""
    for number in range(CALLS):
        generator = torch.Generator().manual_seed(number)
        x = torch.randn(50, generator=generator)
        y = x + 0.5
        if number == wrong:
            y[-1] += 0.01
        device = task.device.torch_device
        yield {"x": x.to(device)}, {"y": y.to(device)}


def test_one_wrong_call_of_many_is_doubted(shift_task: Task) -> None:
    checker = Checker(shift_task, record=True)  # which it cannot be without a GPU
    assert checker.all_surely_right(CASE, CALLS, calls(shift_task))
    for wrong in (0, 7, CALLS - 1):
        assert not checker.all_surely_right(CASE, CALLS, calls(shift_task, wrong))
    assert checker.all_surely_right(CASE, CALLS, calls(shift_task))


def test_what_is_right_by_other_rules_is_not_sure(shift_task: Task) -> None:
    x = torch.full((50,), torch.inf)
    assert not Checker(shift_task).all_surely_right(CASE, 1, [({"x": x}, {"y": x})])


class Waits(Reference):
    """One that looks at a number on the way, which nobody can record."""

    def expected(self, *given: object) -> dict[str, Tensor]:
        found = super().expected(*given)  # type: ignore[arg-type]
        assert bool(next(iter(found.values())).isfinite().all())
        return found


class Wrong(Reference):
    def expected(self, *_: object) -> dict[str, Tensor]:
        raise ProblemError([])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [Reference, Waits])
def test_a_graph_says_the_same(shift_task: Task, kind: type[Reference]) -> None:
    reference = kind(shift_task.problem)
    task = replace(shift_task, device=open_device("cuda"), reference=reference)
    checker = Checker(task, record=True)
    for wrong in (None, 0, 7, None, CALLS - 1, None):
        assert checker.all_surely_right(CASE, CALLS, calls(task, wrong)) is (wrong is None)
    other = Case(sizes={"n": 50}, scalars={"s": 0.25})
    assert not checker.all_surely_right(other, CALLS, calls(task))
    assert checker.all_surely_right(CASE, CALLS, calls(task))


@pytest.mark.gpu
def test_a_reference_that_is_wrong_says_so(shift_task: Task) -> None:
    reference = Wrong(shift_task.problem)
    task = replace(shift_task, device=open_device("cuda"), reference=reference)
    with pytest.raises(ProblemError):
        Checker(task, record=True).all_surely_right(CASE, CALLS, calls(task))
