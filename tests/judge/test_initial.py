"""Outputs that are zero before every call, and the remark about those that were not set first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from harness.device.cpu import CpuDevice, HostArena
from harness.judge.batch import Batch, BatchMismatch
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.judge.unset import unset_hint
from harness.problem.case import Case
from harness.problem.format.load import load_problem
from harness.problem.terms import Expectation

COUNTS = load_problem(Path(__file__).parents[1] / "support/packages/counts")
CASE = COUNTS.parse_case("n=50,bins=7")
CALLS = 3
REMARK = "an output holds arbitrary bits before the call: set all of {} first, and only then add"


def task(dtype: str = "float32") -> Task:
    return Task(COUNTS, COUNTS.reference(), dtype, CpuDevice(), "seed")


@pytest.fixture(params=[True, False], ids=["portable", "timed"])
def batch(request: pytest.FixtureRequest) -> Iterator[Batch]:
    arena = HostArena(lay_out(task(), CASE, CALLS, portable=request.param).size)
    batch = Batch(task(), CASE, arena, CALLS, portable=request.param)
    batch.fill("seed")
    yield batch
    arena.close()


def solve(batch: Batch, *, last: bool = True) -> None:
    """What a submission does that adds to what is there."""
    for call in range(CALLS):
        read, made = batch.inputs(call), batch.outputs(call)
        x, w = read["x"], read["w"]
        made["counts"].index_add_(0, x, torch.ones_like(x))
        made["weights"].index_add_(0, x, torch.stack([w, 2 * w], 1))
        if last:
            made["last"].copy_(x % 4)


def test_they_are_zero_and_the_gaps_between_rows_are_guards(batch: Batch) -> None:
    for call in range(CALLS):
        made = batch.outputs(call)
        assert not made["counts"].any() and not made["weights"].any()
        assert bool((made["last"] == (0xFF, 0x7B)[call % 2]).all())
        gaps = made["weights"].as_strided((6,), (3,), made["weights"].storage_offset() + 2)
        guards = gaps.contiguous().view(torch.uint8)
        assert bool((guards == (0xA5, 0xFF)[call % 2]).all())


def test_adding_to_them_is_right_and_they_are_zero_again(batch: Batch) -> None:
    for seed in ("one", "two"):
        batch.fill(seed)
        solve(batch)
        assert batch.check() is None
    for again in (batch.reset, partial(batch.fill_for_warm_up, "three")):
        again()
        for call in range(CALLS):
            made = batch.outputs(call)
            assert not made["counts"].any() and not made["weights"].any()


def test_zeros_of_a_call_before_are_wrong(batch: Batch) -> None:
    solve(batch)
    batch.outputs(1)["counts"].zero_()
    found = batch.check()
    assert found is not None and found.call == 1
    assert found.message.endswith(" elements of counts are wrong")


def test_a_runner_is_told(batch: Batch) -> None:
    arguments = {p.name: a for p, a in zip(COUNTS.parameters, batch.arguments(), strict=True)}
    told = {name for name, each in arguments.items() if getattr(each, "zeroed", False)}
    assert told == {"counts", "weights"}


def test_an_output_that_was_not_set_first_is_named(batch: Batch) -> None:
    solve(batch, last=False)
    for call in range(CALLS):
        batch.outputs(call)["last"].add_((batch.inputs(call)["x"] % 4).to(torch.uint8))
    found = batch.check()
    assert found is not None
    assert REMARK.format("last") in found.message


def test_one_that_is_off_by_one_gets_no_remark(batch: Batch) -> None:
    solve(batch)
    for call in range(CALLS):
        batch.outputs(call)["last"].sub_(1)
    found = batch.check()
    assert found == BatchMismatch(
        0, "50 of 50 elements of last are wrong", found and found.mismatch
    )


def hint(dtype: str, change, *, call: int = 0, calls: int = 2) -> str:
    """The remark about an output of this type, made of its poison and of what is right."""
    kind = getattr(torch, dtype)
    arena = HostArena(lay_out(task(), CASE, 1).size)
    slots = next(s for s in lay_out(task(), CASE, calls).slots if s.tensor.name == "last")
    slots = replace(slots, dtype=kind, tensor=replace(slots.tensor, dtype=dtype))
    arena.close()

    def known(call: int) -> tuple[torch.Tensor, Expectation]:
        wide = torch.float64 if kind.is_floating_point else torch.int64
        right = torch.arange(8, dtype=wide).to(torch.complex128 if kind.is_complex else wide)
        byte = (0xFF, 0x7B)[call % 2]
        before = torch.full((8 * kind.itemsize,), byte, dtype=torch.uint8).view(kind)
        allowed = torch.full((8,), 1e-3, dtype=torch.float64)
        made = change(*map(_as_signed, (before, right.to(kind))), call).view(kind)
        return made, Expectation(expected=right, allowed=allowed)

    return unset_hint(slots, calls, call, known)


KINDS = [
    *("int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]


def _as_signed(a: torch.Tensor) -> torch.Tensor:
    """The same bits in a type that PyTorch can add and index."""
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
    return a.view(signed.get(a.dtype, a.dtype))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("call", [0, 1])
def test_every_type_shows_what_was_there(dtype: str, call: int) -> None:
    some = [1, 4]

    def partly(before, right, call):
        made = right.clone()
        made[some] = before[some] + right[some]
        return made

    assert hint(dtype, lambda before, right, call: before, call=call)
    assert hint(dtype, lambda before, right, call: before + right, call=call)
    assert hint(dtype, partly, call=call)
    assert not hint(dtype, partly, calls=1), "it may be off by one"
    assert not hint(dtype, lambda before, right, call: right, call=call)
    assert not hint(dtype, lambda before, right, call: right.flip(0), call=call)
    assert not hint(dtype, lambda before, right, call: torch.zeros_like(right), call=call)
    both = lambda before, right, call: right.flip(0) if call else before  # noqa: E731
    assert not hint(dtype, both, call=call), "wrong for another reason in the other call"


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_what_is_nan_in_every_call_was_computed(dtype: str) -> None:
    assert not hint(dtype, lambda before, right, call: torch.full_like(right, torch.nan))


def test_a_case_of_one_call(batch: Batch) -> None:
    case = Case(sizes={"n": 1, "bins": 1})
    arena = HostArena(lay_out(task("int32"), case, 1).size)
    one = Batch(task("int32"), case, arena, 1)
    one.fill("seed")
    found = one.check()
    assert found is not None and found.message == "1 of 1 elements of counts are wrong"
    arena.close()
