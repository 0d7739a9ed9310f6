"""Several functions that are one call: what each is given, and what becomes of what they return."""

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

from harness.runner.entry.contracts import caller
from harness.runner.entry.returning import Caller
from harness.runner.program import ProgramFailed
from harness.wire.arguments import Construct
from harness.wire.messages import FaultCode

PARAMETERS = (("x", "inout"), ("y", "inout"), ("sum", "out"), ("low", "out"), ("high", "out"))
CALL = [[[{"argument": "x"}, {"argument": "y"}], 1], [[{"argument": "x"}], 2]]


def bound(first: Callable[..., Any], second: Callable[..., Any], *values: torch.Tensor) -> Caller:
    module = ModuleType("solution")
    vars(module).update(part_one=first, part_two=second)
    found = caller(module, "part_one, part_two", PARAMETERS)
    found.bind([values], Construct(arguments="", seed=0, call=json.dumps(CALL)))
    return found


def tensors() -> list[torch.Tensor]:
    return [torch.tensor([3.0, 1.0]), torch.ones(2), torch.zeros(2), torch.zeros(1), torch.zeros(1)]


def ends(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.amin(0, keepdim=True), x.amax(0, keepdim=True)


def test_each_gets_its_arguments_and_all_outputs_are_kept() -> None:
    values = tensors()
    found = bound(torch.add, ends, *values)
    found.warm_up(0)
    found.call(0)
    assert [x.tolist() for x in values[2:]] == [[4.0, 2.0], [1.0], [3.0]]
    assert found.copied is not None


def test_a_later_one_sees_what_an_earlier_one_has_written() -> None:
    values = tensors()
    bound(lambda x, y: x.add_(y), lambda x: {"high": x[:1], "low": x[1:]}, *values).call(0)
    assert [x.tolist() for x in values[2:]] == [[4.0, 2.0], [4.0], [2.0]]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (torch.add, lambda x: x[:1], "part_two returned a Tensor, expected 2 tensors"),
        (
            lambda x, y: (x, *ends(y)),
            lambda x: (),
            "part_one returned list of 3, expected 1",
        ),
        (lambda x, y: None, ends, "None for sum, expected a tensor"),
        (lambda x, y: x.int(), ends, "a tensor of data type torch.int32 for sum, expected"),
    ],
)
def test_what_does_not_fit_is_named(
    first: Callable[..., Any], second: Callable[..., Any], message: str
) -> None:
    with pytest.raises(ProgramFailed, match=message) as caught:
        bound(first, second, *tensors()).call(0)
    assert caught.value.fault is FaultCode.EXCEPTION


def test_one_that_is_missing_is_named() -> None:
    module = ModuleType("solution")
    vars(module).update(part_one=torch.add, part_two=3)
    with pytest.raises(ProgramFailed, match="defines no function `part_two") as caught:
        caller(module, "part_one, part_two", PARAMETERS)
    assert caught.value.fault is FaultCode.NO_ENTRY
