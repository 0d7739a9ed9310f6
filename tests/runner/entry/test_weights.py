"""A module's weights: what is told of them, and the values that a call has for them."""

from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

from harness.runner.entry.contracts import caller
from harness.runner.entry.returning import Caller
from harness.runner.entry.weights import digest, listed_weights, named_weights
from harness.runner.program import ProgramFailed
from harness.wire.arguments import Construct

PARAMETERS = (("x", "in"), ("y", "out"))


class Scale(nn.Module):
    """A weight, a view of it under another name, and a buffer."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(length))
        self.same = self.weight
        self.register_buffer("shift", torch.zeros(length))

    def forward(self, x: Tensor) -> Tensor:
        """``x · weight + shift``."""
        return x * self.weight + self.shift


def made(kind: type[nn.Module] = Scale) -> Caller:
    module = ModuleType("solution")
    module.ModelNew = kind  # type: ignore[attr-defined]
    return caller(module, "ModelNew", PARAMETERS)


def test_each_is_listed_once_with_a_digest_of_its_values() -> None:
    construct = Construct(arguments="[3]", seed=5)
    listed = made().weights(construct)
    assert [each.name for each in listed] == ["weight", "shift"]
    torch.manual_seed(5)
    assert [each.digest for each in listed] == [digest(torch.rand(3)), digest(torch.zeros(3))]
    function = ModuleType("solution")
    function.solution = print  # type: ignore[attr-defined]
    assert caller(function, "solution", ()).weights(construct) == ()


def test_digests_tell_types_shapes_and_values_apart() -> None:
    one = torch.arange(6.0).view(2, 3)
    others = [one.t(), one.view(3, 2), one.double(), one.view(torch.int32), -one, one[:1], one + 1]
    assert len({digest(each) for each in (one, *others)}) == 1 + len(others)
    assert digest(one.t().contiguous().t()) == digest(one)
    assert digest(torch.ones(())) != digest(torch.ones(1))
    assert digest(torch.ones(2, dtype=torch.complex64)) != digest(torch.ones(4))


def test_more_than_a_message_holds_are_none() -> None:
    many = nn.ModuleList(nn.Linear(1, 1) for _ in range(80))
    assert len(listed_weights(many)) == 160
    many.append(nn.Linear(1, 1))
    assert listed_weights(many) == ()
    deep: nn.Module = nn.Linear(1, 1)
    for _ in range(20):
        deep = nn.ModuleDict({"a_long_name": deep})
    assert listed_weights(deep) == ()
    assert named_weights(nn.LazyLinear(2)) == {}


def test_each_call_has_values_of_its_own() -> None:
    found = made()
    calls = []
    for factor in (2.0, 3.0):
        own = (torch.full((3,), factor), torch.ones(3), torch.tensor(torch.nan))
        calls.append((torch.arange(3.0), torch.zeros(3), *own))
    found.bind(calls, Construct(arguments="[3]", seed=5, weights=("weight", "shift", "")))
    for index in (0, 1, 0):
        found.call(index)
    assert [call[1].tolist() for call in calls] == [[1.0, 3.0, 5.0], [1.0, 4.0, 7.0]]


def test_what_was_listed_has_to_be_there() -> None:
    found = made()
    call = (torch.zeros(3), torch.zeros(3), torch.zeros(3))
    with pytest.raises(ProgramFailed, match="had a weight `gone` when it was made before"):
        found.bind([call], Construct(arguments="[3]", seed=5, weights=("gone",)))
