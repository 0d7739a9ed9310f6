"""Entry points that return: what they are given, and what becomes of what they return."""

from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from harness.runner.entry.contracts import caller
from harness.runner.entry.returning import Caller
from harness.runner.program import ProgramFailed
from harness.wire.messages import FaultCode

LINEAR = (
    ("x", "in"), ("weight", "in"), ("bias", "in"), ("scale", "scalar"), ("y", "out"),
    ("batch", "size"), ("inputs", "size"), ("outputs", "size"),
)  # fmt: skip
TWO = (("x", "in"), ("mean", "out"), ("n", "size"), ("total", "out"))


def bound(entry: str, value: Any, parameters: Any, *calls: tuple[Any, ...]) -> Caller:
    module = ModuleType("solution")
    setattr(module, entry, value)
    found = caller(module, entry, parameters)
    found.bind(calls)
    return found


def linear_call(seed: int, batch: int = 3, inputs: int = 4, outputs: int = 2) -> tuple[Any, ...]:
    draw = torch.Generator().manual_seed(seed)

    def tensor(*shape: int) -> Tensor:
        return torch.randn(shape, generator=draw)

    y = torch.full((batch, outputs), torch.nan)
    return (tensor(batch, inputs), tensor(outputs, inputs), tensor(outputs), 0.5, y, batch, inputs,
            outputs)  # fmt: skip


def expected(call: tuple[Any, ...]) -> Tensor:
    result: Tensor = (call[0] @ call[1].T + call[2]) * call[3]
    return result


@given(kinds=st.lists(st.sampled_from(["in", "out", "inout", "size", "scalar"]), min_size=1))
def test_a_tuple_has_what_is_read_in_order_then_what_is_written(kinds: list[str]) -> None:
    values = tuple(range(len(kinds)))
    seen: list[tuple[int, ...]] = []
    parameters = [(f"p{i}", kind) for i, kind in enumerate(kinds)]
    bound("custom_kernel", seen.append, parameters, values).call(0)
    read = [i for i in values if kinds[i] not in ("out", "size")]
    assert seen == [tuple(read + [i for i in values if kinds[i] == "out"])]


def test_parameters_that_do_not_fit_are_named() -> None:
    with pytest.raises(ProgramFailed) as caught:
        bound("solution", lambda x, y: None, TWO, (1, 2, 3, 4)).call(0)
    assert caught.value.fault is FaultCode.EXCEPTION
    assert str(caught.value).endswith("def solution(x, mean, n, total):")


def test_a_type_error_from_within_stays_what_it_is() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        bound("solution", lambda *a: a[0] + "", TWO, (1, 2, 3, 4)).call(0)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda x, n, y: x + 1, "tensor"),
        (lambda x, n, y: (x + 1).numpy(), "tensor"),
        (lambda x, n, y: x.to_sparse(), "tensor"),
        (lambda x, n, y: (y, x * 2), "tensors"),
        (lambda x, n, y: [x + 1], "tensors"),
        (lambda x, n, y: {"y": x + 1}, "tensors"),
        (lambda x, n, y: float(x.sum()), "number"),
        (lambda x, n, y: y, None),
        (lambda x, n, y: y.view(2, 2).t(), None),
        (lambda x, n, y: (x, y, n), "tensors"),
        (lambda x, n, y: (x, y), None),
        (lambda x, n, y: True, None),
        (lambda x, n, y: print, None),
        (lambda x, n, y: None, None),
    ],
)
@pytest.mark.parametrize("entry", ["solution", "solve"])
def test_what_is_returned_in_vain_is_told(entry: str, made: Any, told: str | None) -> None:
    parameters = (("x", "in"), ("n", "size"), ("y", "out"))
    caller = bound(entry, made, parameters, (torch.ones(4), 4, torch.zeros(4)))
    assert caller.ignored is None
    caller.call(0)
    assert caller.ignored == told


def test_one_output_is_copied_and_none_means_in_place() -> None:
    call = linear_call(1)
    bound("custom_kernel", lambda data: expected(call), LINEAR, call).call(0)
    torch.testing.assert_close(call[4], expected(call))
    call = linear_call(2)
    filled = bound("custom_kernel", lambda data: [data[-1].fill_(7), None][1], LINEAR, call)
    filled.call(0)
    assert bool((call[4] == 7).all())


def test_several_outputs_come_in_the_problems_order() -> None:
    x, mean, total = torch.arange(4.0), torch.zeros(1), torch.zeros(1)
    entry = bound(
        "custom_kernel",
        lambda data: (data[0].mean().reshape(1), data[0].sum().reshape(1)),
        TWO,
        (x, mean, 4, total),
    )
    entry.call(0)
    assert (float(mean), float(total)) == (1.5, 6.0)


def test_a_transposed_output_is_copied_element_by_element() -> None:
    y = torch.zeros(2, 3)
    entry = bound(
        "custom_kernel",
        lambda data: data[0].T,
        (("x", "in"), ("y", "out")),
        (torch.arange(6.0).reshape(3, 2), y),
    )
    entry.call(0)
    assert y.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_a_tensor_that_needs_a_gradient_is_only_numbers() -> None:
    y = torch.zeros(2)
    weight = nn.Parameter(torch.ones(2))
    entry = bound("custom_kernel", lambda data: weight, (("x", "in"), ("y", "out")), (y, y))
    entry.call(0)
    assert not y.requires_grad
    assert y.tolist() == [1, 1]


def test_a_view_of_the_output_is_read_before_it_is_written() -> None:
    y = torch.arange(9.0).reshape(3, 3)
    entry = bound("custom_kernel", lambda data: data[-1].T, (("y", "out"),), (y,))
    entry.call(0)
    torch.testing.assert_close(y, torch.arange(9.0).reshape(3, 3).T)
    assert entry.copied == 1


def test_outputs_returned_in_each_others_buffers_are_swapped() -> None:
    x, mean, total = torch.zeros(1), torch.full((1,), 1.0), torch.full((1,), 2.0)
    bound("custom_kernel", lambda data: (data[2], data[1]), TWO, (x, mean, 1, total)).call(0)
    assert (float(mean), float(total)) == (2.0, 1.0)


def test_a_conjugate_view_of_the_output_is_copied() -> None:
    y = torch.tensor([1 + 2j, 3j])
    bound("custom_kernel", lambda data: data[-1].conj(), (("y", "out"),), (y,)).call(0)
    assert y.tolist() == [1 - 2j, -3j]


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (torch.zeros(2, 1), r"shape \[2, 1\] for y, expected \[2\]"),
        (torch.zeros(2, dtype=torch.float64), "torch.float64 for y, expected torch.float32"),
        (torch.zeros(2, device="meta"), "device meta for y, expected cpu"),
        (3, "a int for y, expected a tensor"),
        ((torch.zeros(2), torch.zeros(2)), "tuple of 2, expected `y`"),
        ([], "list of 0, expected `y`"),
    ],
)
def test_a_return_value_that_does_not_fit_is_a_fault_with_the_expected_one(
    returned: Any, words: str
) -> None:
    y = torch.zeros(2)
    entry = bound("custom_kernel", lambda data: returned, (("x", "in"), ("y", "out")), (y, y))
    with pytest.raises(ProgramFailed, match=words) as failed:
        entry.call(0)
    assert failed.value.fault is FaultCode.EXCEPTION


class Linear(nn.Module):
    """Made from sizes and a scalar; weights by the last part of their names."""

    def __init__(self, inputs: int, outputs: int, scale: float, unused: int = 3) -> None:
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)
        self.scale = scale

    def forward(self, data: Tensor) -> Tensor:
        result: Tensor = self.layer(data) * self.scale
        return result


def test_a_module_gets_the_weights_of_each_call() -> None:
    calls = [linear_call(seed) for seed in range(3)]
    entry = bound("ModelNew", Linear, LINEAR, *calls)
    for index in (2, 0, 1):
        entry.call(index)
    for call in calls:
        torch.testing.assert_close(call[4], expected(call))


def test_a_forward_may_name_what_it_wants() -> None:
    class Named(nn.Module):
        def forward(self, bias: Tensor, x: Tensor, weight: Tensor, scale: float) -> Tensor:
            return (x @ weight.T + bias) * scale

    call = linear_call(5)
    bound("ModelNew", Named, LINEAR, call).call(0)
    torch.testing.assert_close(call[4], expected(call))


def test_half_precision_weights_take_the_place_of_float32_ones() -> None:
    call = tuple(each.half() if isinstance(each, Tensor) else each for each in linear_call(6))
    bound("ModelNew", Linear, LINEAR, call).call(0)
    torch.testing.assert_close(call[4], expected(call), rtol=1e-2, atol=1e-2)


class Asks(nn.Module):
    def __init__(self, multiplier: float) -> None:
        super().__init__()


class Wider(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(9))


class Twice(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs)


class TooMany(Linear):
    def forward(self, data: Tensor, other: Tensor) -> Tensor:  # type: ignore[override]
        return data


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Asks, "asks for `multiplier`, which is no size or scalar.*`scale`"),
        (Wider, r"`weight` of shape \[9\] that no tensor.*weight \[2, 4\]"),
        (Twice, "several parameters that `weight` could be, `b.weight` among them"),
        (TooMany, "takes 2 arguments.*1 inputs that are no weights.*`x`"),
        (lambda: {}, "makes a dict, not a torch.nn.Module"),
        (5, "defines no class `ModelNew"),
    ],
)
def test_a_module_that_does_not_fit_is_no_submission(model: Any, words: str) -> None:
    with pytest.raises(ProgramFailed, match=words) as failed:
        bound("ModelNew", model, LINEAR, linear_call(7))
    assert failed.value.fault is FaultCode.NO_ENTRY


def test_a_module_that_returns_none_is_a_fault() -> None:
    class Silent(Linear):
        def forward(self, data: Tensor) -> Tensor:
            return None  # type: ignore[return-value]

    with pytest.raises(ProgramFailed, match="returned None for y, expected a tensor"):
        bound("ModelNew", Silent, LINEAR, linear_call(8)).call(0)
