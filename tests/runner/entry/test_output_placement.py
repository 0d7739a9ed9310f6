"""Outputs made in the judge's buffers: which are, and that no file can tell the difference."""

import ctypes
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from harness.runner.entry import output_placement
from harness.runner.entry.contracts import caller
from harness.runner.entry.output_placement import ALIGNMENT
from harness.runner.entry.returning import Caller

ONE = (("a", "in"), ("b", "in"), ("alpha", "scalar"), ("n", "size"), ("y", "out"))
TWO = (("a", "in"), ("b", "in"), ("n", "size"), ("y", "out"), ("z", "out"))
N = 24


def buffer(*shape: int, dtype: torch.dtype = torch.float32, off: int = 0) -> Tensor:
    """Memory that starts where PyTorch's own would, ``off`` bytes further; all bits are set."""
    wanted = torch.Size(shape).numel() * dtype.itemsize
    raw = torch.full((wanted + 2 * ALIGNMENT,), 0xFF, dtype=torch.uint8)
    start = -raw.data_ptr() % ALIGNMENT + off
    return raw[start : start + wanted].view(dtype).view(shape)


def calls(
    count: int = 3, outputs: int = 1, dtype: torch.dtype = torch.float32
) -> list[tuple[Any, ...]]:
    draw = torch.Generator().manual_seed(7)

    def one() -> tuple[Any, ...]:
        a, b = (torch.randn(N, N, generator=draw).to(dtype) for _ in range(2))
        if outputs == 2:
            return a, b, N, buffer(N, N, dtype=dtype), buffer(N, N, dtype=dtype)
        return a, b, 0.5, N, buffer(N, N, dtype=dtype)

    return [one() for _ in range(count)]


def warm(function: Callable[..., Any], bound: list[tuple[Any, ...]]) -> Caller:
    """A ``custom_kernel`` that was called as the runner does before anything counts."""
    module = ModuleType("solution")
    module.custom_kernel = function  # type: ignore[attr-defined]
    found = caller(module, "custom_kernel", TWO if len(bound[0]) == 5 and bound[0][2] == N else ONE)
    found.bind(bound)
    found.warm_up(0)
    return found


def poisoned(tensor: Tensor) -> Tensor:
    tensor.view(-1).view(torch.uint8).fill_(0xFF)
    return tensor


@pytest.fixture(params=[1 << 24, 7])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs are compared whole, or in pieces."""
    monkeypatch.setattr(output_placement, "_PIECE", request.param)


def triton_like(data: Any) -> Tensor:
    a, b, alpha, _ = data
    result = torch.empty_like(a)
    torch.add(a, b, alpha=alpha, out=result)  # stands for a launch
    return result


def strided(data: Any) -> Tensor:
    a, b, _, _ = data
    return torch.empty_strided(a.shape, a.stride(), dtype=a.dtype).copy_(a).mul_(b)


def by_hand(data: Any) -> Tensor:
    a, b, alpha, _ = data
    result = a.new_zeros(a.shape)
    result += a
    result += alpha * b
    return result


PLACED: dict[str, Callable[[Any], Any]] = {
    "empty_like": triton_like,
    "empty_strided": strided,
    "new_zeros": by_hand,
    "empty": lambda d: torch.empty(N, N).copy_(d[0] - d[1]),
    "zeros": lambda d: torch.zeros(N, N).add_(d[0]),
    "ones_like": lambda d: torch.ones_like(d[0]).mul_(d[1]),
    "full": lambda d: torch.full((N, N), d[2]).add_(d[1]),
    "full_like": lambda d: torch.full_like(d[0], 3.0),
    "mm": lambda d: d[0] @ d[1],
    "add": lambda d: d[0] + d[1],
    "add alpha": lambda d: torch.add(d[0], d[1], alpha=2),
    "scalar": lambda d: d[0] * d[2],
    "relu": lambda d: torch.relu(d[0]),
    "softmax": lambda d: torch.softmax(d[0], dim=-1),
    "gelu": lambda d: nn.functional.gelu(d[0]),
    "leaky_relu": lambda d: nn.functional.leaky_relu(d[0] @ d[1] * 0.1, 0.2),
    "cat": lambda d: torch.cat((d[0][: N // 2], d[1][N // 2 :])),
    "where": lambda d: torch.where(d[0] > 0, d[0], d[1]),
    "clone": lambda d: d[0].T.clone(memory_format=torch.contiguous_format),
    "cast": lambda d: (d[0].double() + 1).float(),
    "in place afterwards": lambda d: (d[0] @ d[1]).relu_(),
    "another shape": lambda d: (d[0].view(-1) * 2).view(N, N),
    "batched": lambda d: torch.matmul(d[0].view(2, N // 2, N), d[1]).view(N, N),
    "another type": lambda d: d[0].view(torch.int32).bitwise_not().view(torch.float32),
    "linear": lambda d: nn.functional.linear(d[0], d[1], d[1][0]),
    "list": lambda d: [d[0] + 1],
}


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("name", PLACED)
def test_results_are_made_in_the_output_buffers(name: str) -> None:
    function, bound = PLACED[name], calls()
    found = warm(function, bound)
    assert found.placing
    for index, call in enumerate(bound):
        poisoned(call[-1])
        found.call(index)
        assert found.copied == 0
        wanted = function((call[0], call[1], call[2], call[-1]))
        wanted = wanted[0] if isinstance(wanted, list) else wanted
        torch.testing.assert_close(call[-1], wanted, rtol=0, atol=0, equal_nan=True)


COPIED: dict[str, Callable[[Any], Any]] = {
    "an input": lambda d: d[0],
    "a view of an input": lambda d: d[0].T,
    "expanded": lambda d: d[0][:1].sum().expand(N, N),
    "transposed": lambda d: (d[0] @ d[1]).T,
    "part of more": lambda d: torch.cat((d[0], d[1]))[:N],
    "without a variant that writes": lambda d: nn.functional.layer_norm(d[0], (N,)),
    "as many as there are": lambda d: d[0][d[0] == d[0]].view(N, N),
    "subclass": lambda d: (d[0] + d[1]).as_subclass(Named),
    "reads the output": lambda d: torch.add(d[0], d[1], out=d[-1]) * 2,
}


class Named(torch.Tensor):
    pass


@pytest.mark.parametrize("name", COPIED)
def test_what_cannot_be_placed_is_copied(name: str) -> None:
    function, bound = COPIED[name], calls()
    found = warm(function, bound)
    for index, call in enumerate(bound):
        poisoned(call[-1])
        found.call(index)
        assert found.copied == 1
        wanted = function((call[0], call[1], call[2], call[-1].clone()))
        torch.testing.assert_close(call[-1], torch.Tensor(wanted), rtol=0, atol=0)


@pytest.mark.usefixtures("piece")
def test_two_outputs_are_placed_and_one_returned_twice_is_copied_once() -> None:
    bound = calls(outputs=2)
    found = warm(lambda d: (d[0] @ d[1], torch.relu(d[0])), bound)
    found.call(1)
    assert (found.placing, found.copied) == (True, 0)
    torch.testing.assert_close(bound[1][3], bound[1][0] @ bound[1][1])
    torch.testing.assert_close(bound[1][4], torch.relu(bound[1][0]))
    twice = warm(lambda d: [d[0] + 1] * 2, bound)
    twice.call(2)
    assert twice.copied == 1
    torch.testing.assert_close(bound[2][3], bound[2][0] + 1)
    torch.testing.assert_close(bound[2][4], bound[2][0] + 1)


class Keeps:
    """Keeps what it returned: itself, a view of it, or the last of several."""

    def __init__(self, how: str) -> None:
        self.how, self.kept, self.count = how, [], 0  # type: ignore[var-annotated]

    def __call__(self, data: Any) -> Tensor:
        self.count += 1
        a, b, *_ = data
        if self.how == "buffers in turn" and self.count > 2:
            return torch.add(a, b, out=self.kept[self.count % 2])
        result = torch.empty_like(a)
        torch.add(a, b, out=result)
        self.kept.append(result[:1] if self.how == "view" else result)
        if self.how == "last":
            del self.kept[:-1]
        return result


@pytest.mark.parametrize("how", ["all", "view", "last", "buffers in turn"])
def test_tensors_that_a_submission_holds_are_never_the_judges_buffers(how: str) -> None:
    keeps, bound = Keeps(how), calls()
    found = warm(keeps, bound)
    assert not found.placing
    for index in (0, 1, 2, 1):
        found.call(index)
        assert found.copied == 1
    for call in bound:
        torch.testing.assert_close(call[-1], call[0] + call[1])
        assert all(each.untyped_storage().data_ptr() != call[-1].data_ptr() for each in keeps.kept)


def test_a_submission_that_begins_to_hold_outputs_is_noticed_at_once() -> None:
    kept: list[Tensor] = []
    bound = calls()

    def custom_kernel(data: Any) -> Tensor:
        result: Tensor = data[0] + data[1]
        if begins:
            kept.append(result)
        return result

    begins = False
    found = warm(custom_kernel, bound)
    assert found.placing
    begins = True
    found.call(1)
    assert not found.placing
    found.call(2)
    assert found.copied == 1
    found.bind(bound)
    found.warm_up(0)
    assert not found.placing


def test_outputs_of_another_sequence_of_operations_are_copied() -> None:
    bound = calls()
    more = False

    def custom_kernel(data: Any) -> Tensor:
        a, b, *_ = data
        if more:
            a = a + 1 - 1  # the operation that made the output before comes later now
        return torch.mul(a, b)

    found = warm(custom_kernel, bound)
    assert found.placing
    more = True
    found.call(1)
    assert found.copied == 1
    torch.testing.assert_close(bound[1][-1], (bound[1][0] + 1 - 1) * bound[1][1])
    more = False
    found.call(2)
    assert found.copied == 0


def test_a_view_of_a_placed_output_is_read_before_it_is_written() -> None:
    bound, turned = calls(), False
    found = warm(lambda d: (d[0] @ d[1]).T if turned else d[0] @ d[1], bound)
    turned = True
    found.call(1)
    assert found.copied == 1
    torch.testing.assert_close(bound[1][-1], (bound[1][0] @ bound[1][1]).T)


@pytest.mark.usefixtures("piece")
def test_an_output_used_as_scratch_is_not_placed() -> None:
    def custom_kernel(data: Any) -> Tensor:
        a, b, _, out = data
        result = torch.empty_like(a)
        scratch = out.numpy()  # what the dispatcher does not see, as a launch of Triton
        scratch[:] = (a @ b).numpy()
        result.numpy()[:] = 0
        result.numpy()[:] += scratch[::-1]
        return result

    bound = calls()
    found = warm(custom_kernel, bound)
    assert not found.placing
    found.call(1)
    torch.testing.assert_close(bound[1][-1], (bound[1][0] @ bound[1][1]).flip(0))


def test_an_unaligned_buffer_is_not_placed() -> None:
    bound = [(*call[:-1], buffer(N, N, off=64)) for call in calls()]
    assert not warm(lambda d: d[0] + d[1], bound).placing


def test_a_buffer_that_is_read_and_written_is_not_placed() -> None:
    module = ModuleType("solution")
    module.custom_kernel = lambda d: d[0] + d[1]  # type: ignore[attr-defined]
    found = caller(module, "custom_kernel", (("x", "in"), ("y", "inout")))
    x, y = buffer(4).fill_(1), buffer(4).fill_(2)
    found.bind([(x, y)])
    found.warm_up(0)
    assert (found.placing, found.copied) == (False, 1)
    assert y.tolist() == [3] * 4


def test_a_call_that_raises_places_nothing() -> None:
    bound, broken = calls(), False

    def custom_kernel(data: Any) -> Tensor:
        if broken:
            raise ValueError("now")
        return torch.relu(data[0])

    found = warm(custom_kernel, bound)
    broken = True
    with pytest.raises(ValueError, match="now"):
        found.call(1)
    broken = False
    found.call(1)
    torch.testing.assert_close(bound[1][-1], torch.relu(bound[1][0]))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(N, N)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.layer(x))


def test_a_module_of_linear_and_relu() -> None:
    module = ModuleType("solution")
    module.ModelNew = Model  # type: ignore[attr-defined]
    parameters = (("x", "in"), ("weight", "in"), ("bias", "in"), ("y", "out"))
    bound = [(a, b, b[0].clone(), y) for a, b, _, _, y in calls()]
    found = caller(module, "ModelNew", parameters)
    found.bind(bound)
    found.warm_up(0)
    for index, (x, weight, bias, y) in enumerate(bound):
        poisoned(y)
        found.call(index)
        assert found.copied == 0
        torch.testing.assert_close(y, torch.relu(nn.functional.linear(x, weight, bias)))


def test_a_compiled_function_stays_compiled() -> None:
    counted = 0

    def backend(graph: Any, _: Any) -> Any:
        def run(*args: Any) -> Any:
            nonlocal counted
            counted += 1
            return graph.forward(*args)

        return run

    try:
        compiled = torch.compile(lambda a, b: torch.relu(a @ b), backend=backend)
        bound = calls()
        found = warm(lambda d: compiled(d[0], d[1]), bound)
        found.call(1)
        assert (found.placing, counted) == (False, 2)  # one to warm up, one that counts
        torch.testing.assert_close(bound[1][-1], torch.relu(bound[1][0] @ bound[1][1]))
    finally:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()


OPERATIONS: list[Callable[[Tensor, Tensor], Tensor]] = [
    torch.add, torch.mul, torch.matmul, lambda a, b: torch.relu(a), lambda a, b: a.T.contiguous(),
    lambda a, b: torch.empty_like(a).copy_(b), lambda a, b: torch.zeros_like(a).add_(b),
    lambda a, b: torch.softmax(b, 0), lambda a, b: torch.cat((a[1:], b[:1])), lambda a, b: a.T,
    lambda a, b: a.add_(0), lambda a, b: torch.ones_like(b).cumsum(0),
]  # fmt: skip


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 6), st.integers(0, 6)), min_size=1
    ),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_placement_changes_no_result_of_any_sequence(steps: Any, dtype: torch.dtype) -> None:
    def custom_kernel(data: Any) -> Tensor:
        known = [data[0].clone() * 0.1, data[1].clone() * 0.1]
        for operation, i, j in steps:
            known.append(operation(known[i % len(known)], known[j % len(known)]))
        return known[-1]

    bound = calls(2, dtype=dtype)
    found = warm(custom_kernel, bound)
    for index, call in enumerate(bound):
        poisoned(call[-1])
        found.call(index)
        wanted = custom_kernel((call[0], call[1], call[2], call[-1]))
        torch.testing.assert_close(call[-1], wanted, equal_nan=True)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "name", ["empty_like", "zeros", "mm", "relu", "in place afterwards", "cat"]
)
def test_recorded_calls_write_to_the_output_buffers(name: str) -> None:
    function = PLACED[name]
    bound = [
        tuple(each.cuda() if isinstance(each, Tensor) else each for each in call)
        for call in calls()
    ]

    def custom_kernel(data: Any) -> Any:
        with torch.device("cuda"):
            return function(data)

    found = warm(custom_kernel, bound)
    assert found.placing
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for index in range(len(bound)):
            found.call(index)
            assert found.copied == 0
    assert found.placing
    for call in bound:
        poisoned(call[-1])
        call[0].add_(1)
    graph.replay()
    torch.cuda.synchronize()
    for a, b, alpha, _, y in bound:
        torch.testing.assert_close(y, custom_kernel((a, b, alpha, y)))


def test_a_call_is_prepared_each_time_that_it_is_watched() -> None:
    """As where an output is 0 before every call: what adds to it must not find its own results."""
    bound = calls(1)
    found: list[float] = []

    def adds(data: Any) -> Tensor:
        a, _, _, y = data
        found.append(float(y.sum()))
        y += 1
        return torch.empty_like(a).copy_(y)

    module = ModuleType("solution")
    module.custom_kernel = adds  # type: ignore[attr-defined]
    made = caller(module, "custom_kernel", ONE)
    made.bind(bound)

    def clear() -> None:
        ctypes.memset(bound[0][-1].data_ptr(), 0, 4 * N * N)

    made.warm_up(0, clear)
    assert len(found) > 1
    assert found == [0.0] * len(found)
