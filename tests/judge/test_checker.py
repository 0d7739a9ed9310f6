"""Whether all calls are right, told at once; with a graph on a GPU."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from harness.device.choose import open_device
from harness.errors import ProblemError
from harness.judge import checker as checker_module
from harness.judge.checker import Checker
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.reference import Reference

CASE = Case(sizes={"n": 50}, scalars={"s": 0.5})
CALLS = 20

Tensors = Mapping[str, Tensor]


def calls(
    task: Task, wrong: int | None = None, off: float = 0.01
) -> Callable[[int], tuple[Tensors, Tensors]]:
    """y = x + s of other numbers each; the last element of call ``wrong`` is off."""

    def each(number: int) -> tuple[Tensors, Tensors]:
        generator = torch.Generator().manual_seed(number)
        x = torch.randn(50, generator=generator)
        x[-1] = -0.5
        y = x + 0.5
        if number == wrong:
            y[-1] += off
        device = task.device.torch_device
        return {"x": x.to(device)}, {"y": y.to(device)}

    return each


class Counts(Reference):
    """One that counts how often it is asked for what was summed."""

    asked = 0

    def expected_and_magnitude(self, *given: object) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        self.asked += 1
        return super().expected_and_magnitude(*given)  # type: ignore[arg-type]


class Waits(Reference):
    """One that looks at a number on the way, which nobody can record."""

    def _call(self, *given: object) -> dict[str, Tensor]:
        found = super()._call(*given)  # type: ignore[arg-type]
        assert bool(next(iter(found.values())).isfinite().all())
        return found


class Wrong(Reference):
    def _call(self, *_: object) -> dict[str, Tensor]:
        raise ProblemError([])


def test_one_wrong_call_of_many_is_not_surely_right(shift_task: Task) -> None:
    checker = Checker(shift_task, reused=True)
    assert checker.all_surely_right(CASE, CALLS, calls(shift_task))
    for wrong in (0, 7, CALLS - 1):
        assert not checker.all_surely_right(CASE, CALLS, calls(shift_task, wrong))
    assert checker.all_surely_right(CASE, CALLS, calls(shift_task))


def test_infinities_are_not_surely_right(shift_task: Task) -> None:
    x = torch.full((50,), torch.inf)
    assert not Checker(shift_task).all_surely_right(CASE, 1, lambda _: ({"x": x}, {"y": x}))


def test_the_magnitude_is_computed_once_a_check_without_it_fails(
    shift_task: Task,
) -> None:
    """0 is expected of the last element, so all that is allowed there comes from the sum."""
    reference = Counts(shift_task.problem)
    task = replace(shift_task, reference=reference)
    checker = Checker(task, reused=True)
    for _ in range(2):
        assert checker.all_surely_right(CASE, CALLS, calls(task))
    assert reference.asked == 0
    for off in (1e-8, 0.0):
        assert checker.all_surely_right(CASE, CALLS, calls(task, 7, off))
    assert reference.asked == 2 * CALLS
    other = Case(sizes={"n": 50}, scalars={"s": 0.25})
    assert not checker.all_surely_right(other, CALLS, calls(task))
    assert Checker(task).all_surely_right(CASE, 1, calls(task))
    assert reference.asked == 3 * CALLS + 1


def test_what_was_expected_ahead_serves_the_calls_of_its_seed_once(shift_task: Task) -> None:
    reference = Counts(shift_task.problem)
    task = replace(shift_task, reference=reference)
    checker = Checker(task)
    for seed, asked in (("a", 3), ("b", 6)):
        checker.expect(CASE, [calls(task)(number)[0] for number in range(3)], "a")
        reference.asked = 3
        assert checker.all_surely_right(CASE, 3, calls(task), seed)
        assert reference.asked == asked
        assert checker.all_surely_right(CASE, 3, calls(task), seed)
        assert reference.asked == asked + 3
    checker.expect(CASE, [calls(task)(number)[0] for number in range(3)], "a")
    assert not checker.all_surely_right(CASE, 3, calls(task, 1), "a")


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [Reference, Waits])
def test_a_graphed_check_agrees_with_the_plain_one(shift_task: Task, kind: type[Reference]) -> None:
    reference = kind(shift_task.problem)
    task = replace(shift_task, device=open_device("cuda"), reference=reference)
    checker = Checker(task, reused=True)
    for wrong in (None, 0, 7, None, CALLS - 1, None):
        assert checker.all_surely_right(CASE, CALLS, calls(task, wrong)) is (wrong is None)
        assert checker.all_surely_right(CASE, CALLS, calls(task, 3, 1e-8))
    other = Case(sizes={"n": 50}, scalars={"s": 0.25})
    assert not checker.all_surely_right(other, CALLS, calls(task))
    assert checker.all_surely_right(CASE, CALLS, calls(task))


class SyncDebug:
    """Torch's mode in which waiting is an error, which it calls a prototype, once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mode: int | str = 0
        self.told = False
        monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: self.mode)
        monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", self.set)

    def set(self, mode: int | str) -> None:
        self.mode = mode
        if not self.told:
            self.told = True
            warnings.warn("a prototype feature", stacklevel=2)


@pytest.mark.filterwarnings("error")
def test_waiting_is_an_error_for_a_block_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    debug = SyncDebug(monkeypatch)
    with checker_module._no_waits():
        assert debug.mode == "error"
    assert debug.mode == 0
    with pytest.raises(RuntimeError), checker_module._no_waits():
        raise RuntimeError("called a synchronizing CUDA operation")
    assert debug.mode == 0


@pytest.mark.gpu
def test_a_reference_that_waits_leaves_torch_as_it_was(shift_task: Task) -> None:
    """A capture that failed would keep all memory, and the generator of the device."""
    device = open_device("cuda")
    task = replace(shift_task, device=device, reference=Waits(shift_task.problem))
    free = device.free_bytes()
    assert Checker(task, reused=True).all_surely_right(CASE, CALLS, calls(task))
    held = torch.empty(1 << 30, dtype=torch.uint8, device=device.torch_device)
    assert device.free_bytes() <= free - held.numel()
    del held
    torch.cuda.empty_cache()
    assert device.free_bytes() > free - (1 << 29)
    assert torch.cuda.get_sync_debug_mode() == 0
    torch.rand(1, device=device.torch_device)


@pytest.mark.gpu
def test_a_wrong_reference_raises(shift_task: Task) -> None:
    reference = Wrong(shift_task.problem)
    task = replace(shift_task, device=open_device("cuda"), reference=reference)
    with pytest.raises(ProblemError):
        Checker(task, reused=True).all_surely_right(CASE, CALLS, calls(task))
