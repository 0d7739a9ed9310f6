"""What a batch holds, and that nothing a submission can do to it goes unnoticed."""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.live_memory import LiveMemory

from harness.device.choose import open_device
from harness.device.cpu import CpuDevice, HostArena
from harness.judge.batch import Batch
from harness.judge.digest import Digest
from harness.judge.layout import GUARD_BYTES, BufferLayout, Layout, lay_out
from harness.judge.noted import Noted
from harness.judge.task import Task
from harness.problem.case import FAMILIES, Case
from harness.problem.dtypes import C_TYPES, DTYPES
from harness.problem.expressions import Expression
from harness.problem.model import Parameter
from harness.problem.package import Problem
from harness.problem.reference import upcast
from harness.problem.terms import Direction, Expectation, Role, TensorSpec
from harness.runner.library import SCALARS
from harness.wire.arguments import ScalarArgument, TensorArgument

POISONS = (0xFF, 0x7B)

parameters = st.lists(
    st.tuples(
        st.sampled_from(["[VAR]", *C_TYPES]),
        st.lists(st.sampled_from(["m", "n", "m*n", "n+1", "3"]), min_size=1, max_size=3),
        st.sampled_from(Direction),
    ),
    min_size=1,
    max_size=5,
)


def _problem(like: Problem, tensors: list[tuple[str, list[str], Direction]]) -> Problem:
    made = tuple(
        Parameter(
            name=f"p{number}",
            type=type_,
            role=Role.TENSOR,
            line=1,
            direction=direction,
            shape=tuple(map(Expression.parse, shape)),
        )
        for number, (type_, shape, direction) in enumerate(tensors)
    )
    return replace(like, parameters=made)


@settings(max_examples=60)
@given(
    parameters,
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 5),
    st.sampled_from(list(DTYPES)),
)
def test_buffers_are_aligned_fenced_and_apart(
    shift_task: Task, tensors, m: int, n: int, calls: int, dtype: str
) -> None:
    problem = _problem(shift_task.problem, tensors)
    task = replace(shift_task, problem=problem, dtype=dtype)
    layout = lay_out(task, Case(sizes={"m": m, "n": n}), calls)
    assert layout.calls == calls
    case = Case(sizes={"m": m, "n": n})
    assert tuple(slots.tensor for slots in layout.slots) == problem.tensors_of(case, dtype)
    assert [slots.tensor.name for slots in layout.slots] == [p.name for p in problem.tensors]
    used = sorted(
        (slots.base + call * slots.stride, slots.bytes)
        for slots in layout.slots
        for call in range(calls)
    )
    end = 0
    for start, size in used:
        assert start - end >= GUARD_BYTES
        assert start % 512 == 0
        end = start + size
    assert layout.size - end >= GUARD_BYTES


@pytest.fixture
def filled(blend_task: Task) -> Iterator[tuple[Batch, HostArena]]:
    """Three calls, as they are before the submission runs."""
    case = Case(sizes={"m": 5, "n": 7})
    arena = HostArena(lay_out(blend_task, case, 3).size)
    batch = Batch(blend_task, case, arena, 3)
    batch.fill("seed")
    yield batch, arena
    del batch
    arena.close()


Filled = tuple[Batch, HostArena]


def _slots(batch: Batch, name: str) -> BufferLayout:
    return next(slots for slots in batch.layout.slots if slots.tensor.name == name)


def digest_of(batch: Batch) -> Digest:
    assert isinstance(batch._filling, Noted)
    assert batch._filling._digest is not None
    return batch._filling._digest


def view(filled: Filled, name: str, call: int) -> torch.Tensor:
    """A buffer as the submission sees it."""
    batch, arena = filled
    slots = _slots(batch, name)
    start = slots.base + call * slots.stride
    return arena.bytes[start : start + slots.bytes].view(slots.dtype).view(slots.tensor.shape)


def solve(filled: Filled, calls: tuple[int, ...] = (0, 1, 2)) -> None:
    """What an honest submission does."""
    for call in calls:
        view(filled, "total", call).add_(view(filled, "a", call).T)
        view(filled, "parity", call).copy_(view(filled, "counts", call) % 2)


def test_honest_work_is_right(filled: Filled) -> None:
    solve(filled)
    assert filled[0].check() is None


def test_warm_up_inputs_are_numbers_in_their_places(filled: Filled) -> None:
    batch, arena = filled
    before = arena.bytes.clone()
    batch.fill_for_warm_up("warm-up")
    for slots in batch.layout.slots:
        for call in range(3):
            start = slots.base + call * slots.stride
            end = start + slots.bytes
            changed = bool((arena.bytes[start:end] != before[start:end]).any())
            assert changed is (slots.tensor.direction is not Direction.OUT)
            fence = slice(end, slots.base + (call + 1) * slots.stride)
            assert torch.equal(arena.bytes[fence], before[fence])
    assert bool(view(filled, "a", 0).isfinite().all())


def test_a_batch_can_be_filled_and_checked_again(filled: Filled) -> None:
    batch, _ = filled
    for seed in ("one", "two"):
        batch.fill(seed)
        solve(filled)
        assert batch.check() is None


def test_outputs_are_poisoned_and_guards_set(filled: Filled) -> None:
    batch, arena = filled
    for call in range(3):
        assert bool((view(filled, "parity", call) == POISONS[call % 2]).all())
    buffers = torch.zeros(arena.size, dtype=torch.bool)
    for slots in batch.layout.slots:
        for call in range(3):
            start = slots.base + call * slots.stride
            buffers[start : start + slots.bytes] = True
    rest = arena.bytes[: batch.layout.size][~buffers[: batch.layout.size]]
    assert bool((rest == 0xA5).all())


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_poison_is_nan_and_then_a_huge_number(dtype: str) -> None:
    element = getattr(torch, dtype)
    nan, huge = (torch.full((8,), byte, dtype=torch.uint8).view(element) for byte in POISONS)
    assert bool(nan.isnan().all())
    assert bool(huge.isfinite().all())
    assert float(huge[0]) > 6e4


def test_inputs_differ_from_call_to_call_and_seed_to_seed(filled: Filled) -> None:
    batch, _ = filled
    first = [view(filled, "a", call).clone() for call in range(3)]
    assert not torch.equal(first[0], first[1])
    batch.fill("another")
    assert not torch.equal(first[0], view(filled, "a", 0))
    batch.fill("seed")
    assert torch.equal(first[0], view(filled, "a", 0))


def test_portable_inputs_are_those_of_the_case(shift_task: Task) -> None:
    case = Case(sizes={"n": 9}, scalars={"s": 0.5})
    arenas = [HostArena(lay_out(shift_task, case, calls).size) for calls in (1, 2)]
    batches = [
        Batch(shift_task, case, arena, calls, portable=True)
        for calls, arena in zip((1, 2), arenas, strict=True)
    ]
    for batch in batches:
        batch.fill("seed")
    first = [view((b, a), "x", 0) for b, a in zip(batches, arenas, strict=True)]
    assert torch.equal(*first)
    assert not torch.equal(first[1], view((batches[1], arenas[1]), "x", 1))


@pytest.mark.parametrize("call", [0, 1, 2])
def test_every_output_of_every_call_is_checked(filled: Filled, call: int) -> None:
    solve(filled)
    view(filled, "total", call)[4, 2] += 0.5
    found = filled[0].check()
    assert found is not None
    assert (found.call, found.message) == (call, "1 of 35 elements of total are wrong")
    assert found.mismatch is not None
    assert found.mismatch.first.index == (4, 2)


@pytest.mark.parametrize("call", [0, 1, 2])
def test_an_output_that_was_not_written_is_wrong(filled: Filled, call: int) -> None:
    solve(filled, tuple({0, 1, 2} - {call}))
    found = filled[0].check()
    assert found is not None
    assert found.call == call


def test_an_integer_off_by_one_is_wrong(filled: Filled) -> None:
    solve(filled)
    view(filled, "parity", 1)[6] ^= 1
    found = filled[0].check()
    assert found is not None
    assert found.message == "1 of 7 elements of parity are wrong"


@pytest.mark.parametrize(("name", "element"), [("a", 34), ("counts", 0), ("a", 3)])
def test_an_input_that_changed_is_found(filled: Filled, name: str, element: int) -> None:
    solve(filled)
    view(filled, name, 1).view(-1)[element] += 1
    found = filled[0].check()
    assert found is not None
    assert (found.call, found.message) == (1, f"const input {name} was changed (element {element})")


def test_the_sign_of_a_zero_counts_in_an_input(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, _ = filled
    fill = batch._contents._inputs.fill

    def with_zero(out: torch.Tensor, tensor: TensorSpec, *given: Any, **how: Any) -> None:
        fill(out, tensor, *given, **how)
        out[0].view(-1)[0] = 0

    monkeypatch.setattr(batch._contents._inputs, "fill", with_zero)
    batch.fill("seed")
    assert view(filled, "a", 0)[0, 0] == 0.0
    solve(filled)
    view(filled, "a", 0)[0, 0] = -0.0
    found = batch.check()
    assert found is not None
    assert "const input a" in found.message


@pytest.mark.parametrize("name", ["counts", "a", "total", "parity"])
@pytest.mark.parametrize("call", [0, 2])
@pytest.mark.parametrize("beyond", [0, 1, GUARD_BYTES - 1])
def test_a_write_beyond_a_buffer_is_found(
    filled: Filled, name: str, call: int, beyond: int
) -> None:
    batch, arena = filled
    solve(filled)
    slots = _slots(batch, name)
    arena.bytes[slots.base + call * slots.stride + slots.bytes + beyond] ^= 1
    found = batch.check()
    assert found is not None
    expected = f"wrote out of bounds: {beyond} bytes after the end of {name}"
    assert (found.call, found.message) == (call, expected)


def test_a_write_before_the_first_buffer_is_found(filled: Filled) -> None:
    batch, arena = filled
    solve(filled)
    arena.bytes[GUARD_BYTES - 1] = 0
    found = batch.check()
    assert found is not None
    assert found.message == "wrote out of bounds: before the start of counts"


@settings(max_examples=40)
@given(st.data())
def test_any_changed_byte_is_found(blend_task: Task, data: st.DataObject) -> None:
    case = Case(sizes={"m": 2, "n": 3})
    arena = HostArena(lay_out(blend_task, case, 2).size)
    batch = Batch(blend_task, case, arena, 2)
    batch.fill("seed")
    solve((batch, arena), (0, 1))
    size = batch.layout.size
    # Half of the time right at a buffer's edge.
    edges = [
        edge
        for slots in batch.layout.slots
        for call in range(2)
        for start in [slots.base + call * slots.stride]
        for edge in (start - 1, start, start + slots.bytes - 1, start + slots.bytes)
    ]
    at = data.draw(st.integers(0, size - 1) | st.sampled_from(edges))
    bit = data.draw(st.integers(0, 7))
    arena.bytes[at] ^= 1 << bit
    found = batch.check()
    total = _slots(batch, "total")
    inside = any(0 <= at - total.base - c * total.stride < total.bytes for c in range(2))
    # A bit of a double may well be within what is allowed; everything else counts.
    assert found is not None or inside
    arena.close()


@settings(max_examples=40)
@given(st.data())
def test_any_changed_bits_around_large_buffers_are_found_and_placed(
    large: Filled, data: st.DataObject
) -> None:
    """Outputs are right, so whatever else changes must be told: which tensor, which call, where."""
    batch, arena = large
    outputs = [s for s in batch.layout.slots if s.tensor.direction is not Direction.IN]
    at = data.draw(
        st.integers(0, batch.layout.size - 1)
        | st.sampled_from([s.base + c * s.stride for s in batch.layout.slots for c in range(9)])
    )
    if any(0 <= at - s.base - c * s.stride < s.bytes for s in outputs for c in range(9)):
        return
    bits = data.draw(st.integers(1, 255))
    before = int(arena.bytes[at])
    arena.bytes[at] = before ^ bits
    found = batch.check()
    arena.bytes[at] = before
    assert found is not None
    assert (found.call, found.message) == batch.layout.blame(at)
    assert batch.check() is None


@pytest.fixture(scope="module")
def large(blend_task: Task) -> Iterator[Filled]:
    """Nine calls whose inputs have a digest, solved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.judge.contents.SLICE", 1 << 16)
        case = Case(sizes={"m": 80, "n": 90})
        arena = HostArena(lay_out(blend_task, case, 9).size)
        batch = Batch(blend_task, case, arena, 9)
        batch.fill("seed")
        solve((batch, arena), tuple(range(9)))
        assert digest_of(batch)._rows
        assert len(list(batch._contents.slices(_slots(batch, "a")))) > 1
        yield batch, arena
        del batch
    arena.close()


def test_of_a_changed_input_and_a_wrong_output_the_output_is_told(filled: Filled) -> None:
    """With what the reference says of the inputs that were drawn, not of those that are there."""
    solve(filled)
    view(filled, "a", 0)[0, 0] += 64
    view(filled, "total", 0)[3, 1] += 64
    found = filled[0].check()
    assert found is not None and found.mismatch is not None
    assert found.mismatch.first.index == (3, 1)
    assert found.mismatch.differing == 1


@pytest.mark.parametrize(("calls", "of_a_slice"), [(9, 1), (9, 2), (9, 4), (9, 9)])
def test_an_output_that_is_read_is_drawn_again(
    blend_task: Task, monkeypatch: pytest.MonkeyPatch, calls: int, of_a_slice: int
) -> None:
    """In slices: as it was before the call, whatever the slice."""
    case = Case(sizes={"m": 5, "n": 7})
    stride = lay_out(blend_task, case, 1).slots[2].stride
    monkeypatch.setattr("harness.judge.contents.SLICE", of_a_slice * stride + 1)
    arena = HostArena(lay_out(blend_task, case, calls).size)
    batch = Batch(blend_task, case, arena, calls)
    batch.fill("seed")
    before = [view((batch, arena), "total", call).clone() for call in range(calls)]
    solve((batch, arena), tuple(range(calls)))
    assert batch.check() is None
    for call in range(calls):
        assert torch.equal(batch.inputs(call)["total"], before[call])
        assert not torch.equal(view((batch, arena), "total", call), before[call])
    arena.close()


@pytest.mark.parametrize("kind", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_drawn_again_elsewhere_has_the_same_bits(
    blend_task: Task, monkeypatch: pytest.MonkeyPatch, family: str, kind: str
) -> None:
    monkeypatch.setattr("harness.judge.contents.SLICE", 1 << 20)
    task = replace(blend_task, device=open_device(kind))
    case = Case(sizes={"m": 301, "n": 203}, family=family)
    arena = task.device.arena(lay_out(task, case, 30).size)
    batch = Batch(task, case, arena, 30)
    batch.fill("seed")
    assert digest_of(batch).first_change() is None
    for slots in batch.layout.slots:
        rows = batch.layout.rows(batch.bytes, slots)
        for calls in batch._contents.slices(slots):
            again = torch.zeros_like(rows[calls.start : calls.stop])
            batch._contents.write_slice(again, slots, calls, "seed")
            assert torch.equal(again, rows[calls.start : calls.stop])
    del batch, rows
    arena.close()


class Memory:
    """What a batch of 40 calls of 0.5 MiB takes beside its arena, with slices of 1 MiB."""

    def __init__(self, task: Task, directions: tuple[Direction, ...], *, gaps: bool) -> None:
        strides = ("ld", "1") if gaps else ("n", "1")
        parameters = tuple(
            Parameter(
                name=name, type="float", role=Role.TENSOR, line=1, direction=direction,
                shape=(Expression.parse("m"), Expression.parse("n")),
                strides=tuple(map(Expression.parse, strides)),
            )
            for name, direction in zip("abc", directions, strict=False)
        )  # fmt: skip
        problem = replace(task.problem, parameters=parameters)
        self.task = replace(task, problem=problem, reference=Copies(problem))
        self.case = Case(sizes={"m": 256, "n": 512, "ld": 520})
        self.arena = HostArena(lay_out(self.task, self.case, 40).size)
        with LiveMemory() as memory:
            self.batch = Batch(self.task, self.case, self.arena, 40)
            self.batch.fill("seed")
        self.fill = memory.peak
        for call in range(40):
            self.batch.outputs(call)["c"].copy_(self.batch.inputs(call)["a"])
        with LiveMemory() as memory:
            assert self.batch.check() is None
        self.check = memory.peak


class Copies:
    """The answer key c = a."""

    capturable = True

    def __init__(self, problem: Problem) -> None: ...

    def expectations(self, case: Case, dtype: str, inputs: Any, *, summed: bool = True) -> Any:
        wide = inputs["a"].double()
        return {"c": Expectation(expected=wide, allowed=torch.zeros_like(wide))}


@pytest.mark.corpus
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("last", [Direction.OUT, Direction.INOUT])
def test_filling_and_checking_take_a_slice_beside_the_arena(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch, last: Direction, *, gaps: bool
) -> None:
    monkeypatch.setattr("harness.judge.contents.SLICE", 1 << 20)
    seen = Memory(shift_task, (Direction.IN, Direction.IN, last), gaps=gaps)
    arena = seen.arena.size
    assert arena > 60 << 20
    digest = arena // 128 + 2 * (2 << 12) + (1 << 17)
    # On the CPU values of a slice are drawn in float64; the receipt has a few thousand places.
    assert seen.fill < digest + (3 << 20)
    # One call in float64 and what is allowed, a difference of the two, a slice drawn again.
    assert seen.check < digest + 8 * (1 << 20)
    assert max(seen.fill, seen.check) < arena / 5


def test_an_unchecked_batch_takes_no_digest(shift_task: Task) -> None:
    case = Case(sizes={"n": 4}, scalars={"s": 0.0})
    arena = HostArena(lay_out(shift_task, case, 1).size)
    batch = Batch(shift_task, case, arena, 1, checked=False)
    batch.fill("seed")
    with pytest.raises(ValueError, match="not to be checked"):
        batch.check()
    arena.close()


def test_arguments_are_what_the_runner_needs(shift_task: Task) -> None:
    case = Case(sizes={"n": 4}, scalars={"s": 0.25})
    arena = HostArena(lay_out(shift_task, case, 2).size)
    batch = Batch(shift_task, case, arena, 2)
    x, s, y, n = batch.arguments()
    layout: Layout = batch.layout
    assert x == TensorArgument(
        base=GUARD_BYTES, stride=layout.slots[0].stride, bytes=16,
        shape=(4,), strides=(1,), dtype="float32",
    )  # fmt: skip
    assert s == ScalarArgument(ctype="float", value=0.25)
    assert n == ScalarArgument(ctype="size_t", value=4)
    assert isinstance(y, TensorArgument)
    assert y.base == layout.slots[1].base
    arena.close()


def test_the_runner_knows_every_type_that_a_value_may_have() -> None:
    integers = {c for c, name in C_TYPES.items() if name.lstrip("u").startswith("int")}
    assert set(SCALARS) == integers | {"float", "double"}
    for c_type, kind in SCALARS.items():
        assert ctypes.sizeof(kind) == DTYPES[C_TYPES[c_type]].itemsize


def test_arenas_have_room_and_are_let_go() -> None:
    arena = CpuDevice().arena(5000)
    assert arena.size == 8192
    assert arena.bytes.numel() == 8192
    kept = arena.bytes[:10]
    mapped = _mappings()
    arena.close()
    kept.fill_(1)  # a view that is still alive does no harm
    assert _mappings() == mapped
    del kept
    assert _mappings() == mapped - 1


def _mappings() -> int:
    return Path("/proc/self/maps").read_text().count("memfd:arena")


class Padded:
    """A matrix with gaps between its rows, aligned to its elements alone; one call filled."""

    def __init__(self, task: Task, dtype: str, direction: Direction, calls: int = 2) -> None:
        matrix = Parameter(
            name="c",
            type="[VAR]",
            role=Role.TENSOR,
            line=1,
            direction=direction,
            shape=(Expression.parse("m"), Expression.parse("n")),
            strides=(Expression.parse("ld"), Expression.parse("1")),
            alignment=Expression.parse("sizeof(VAR)"),
        )
        vector = replace(matrix, name="x", shape=matrix.shape[1:], strides=matrix.strides[:1])
        vector = replace(vector, direction=Direction.IN, alignment=Expression.parse("16"))
        problem = replace(task.problem, parameters=(vector, matrix))
        self.task = replace(task, problem=problem, dtype=dtype)
        self.case = Case(sizes={"m": 3, "n": 4, "ld": 6})
        self.arena = HostArena(lay_out(self.task, self.case, calls).size)
        self.batch = Batch(self.task, self.case, self.arena, calls, portable=True)
        self.batch.fill("seed")
        self.vector, self.matrix = self.batch.layout.slots

    def expected(self) -> list[dict[str, Expectation]]:
        """What is in the matrix of every call now, exactly."""
        return [
            {
                name: Expectation(
                    expected=upcast(got), allowed=torch.zeros(got.shape, dtype=torch.float64)
                )
                for name, got in self.batch.outputs(call).items()
            }
            for call in range(self.batch.layout.calls)
        ]


@pytest.fixture(params=["float32", "float16", "int64", "uint16", "bool", "complex64", "complex128"])
def padded(shift_task: Task, request: pytest.FixtureRequest) -> Iterator[Padded]:
    made = Padded(shift_task, request.param, Direction.INOUT)
    yield made
    made.arena.close()


def test_strided_outputs_are_views_and_inputs_are_copies(padded: Padded) -> None:
    for call in range(2):
        inputs, outputs = padded.batch.inputs(call), padded.batch.outputs(call)
        assert list(inputs) == ["x", "c"] and list(outputs) == ["c"]
        assert outputs["c"].stride() == (6, 1)
        assert all(tensor.is_contiguous() for tensor in inputs.values())
        assert torch.equal(inputs["c"], outputs["c"])
        outputs["c"].zero_()
        assert bool((padded.batch.inputs(call)["c"] != 0).any())
        padded.batch.reset()
        assert torch.equal(inputs["c"], padded.batch.outputs(call)["c"])


def test_expectations_may_be_given(padded: Padded) -> None:
    expected = padded.expected()
    assert padded.batch.check(expected) is None
    wrong = padded.batch.outputs(1)["c"]
    wrong[2, 3] = wrong[2, 3].item() == 0
    found = padded.batch.check(expected)
    assert found is not None and found.mismatch is not None
    assert (found.call, found.mismatch.first.index) == (1, (2, 3))
    padded.batch.reset()
    assert padded.batch.check(expected) is None


@pytest.mark.parametrize("call", [0, 1])
@pytest.mark.parametrize("gap", [4, 5, 10, 11])
def test_gaps_between_rows_are_guarded(padded: Padded, call: int, gap: int) -> None:
    slots = padded.matrix
    at = slots.base + call * slots.stride + gap * slots.dtype.itemsize
    gaps = padded.arena.bytes[at : at + slots.dtype.itemsize]
    assert bool((gaps == (0xA5, 0xFF)[call]).all())
    expected = padded.expected()
    gaps[-1] ^= 1
    found = padded.batch.check(expected)
    assert found is not None
    assert (found.call, found.message) == (call, "wrote between the rows of c")


def test_the_end_of_a_strided_matrix_is_its_last_element(padded: Padded) -> None:
    slots = padded.matrix
    expected = padded.expected()
    padded.arena.bytes[slots.base + 16 * slots.dtype.itemsize] ^= 1
    found = padded.batch.check(expected)
    assert found is not None
    assert found.message == "wrote out of bounds: 0 bytes after the end of c"


def test_addresses_are_aligned_to_what_is_promised_and_no_more(padded: Padded) -> None:
    promised = [(padded.vector, max(16, padded.vector.dtype.itemsize))]
    promised.append((padded.matrix, padded.matrix.dtype.itemsize))
    for slots, alignment in promised:
        for call in range(2):
            assert (slots.base + call * slots.stride) // alignment % 2 == 1
            assert (slots.base + call * slots.stride) % alignment == 0
    timed = lay_out(padded.task, padded.case, 2)
    assert all(slots.base % 512 == 0 == slots.stride % 512 for slots in timed.slots)
    assert timed.size == padded.batch.layout.size


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool", "complex64", "int64"])
def test_writing_nothing_is_wrong_whatever_is_expected(shift_task: Task, dtype: str) -> None:
    """Expecting in one call just what the output holds before does not help in the other."""
    made = Padded(shift_task, dtype, Direction.OUT)
    raw = made.batch._numbers(made.arena.bytes[: made.batch.layout.size], made.matrix)
    for call in range(2):
        same = upcast(raw[call])
        expected = {"c": Expectation(expected=same, allowed=torch.zeros(same.shape).double())}
        found = made.batch.check([expected, expected])
        assert found is not None
        assert found.call == 1 - call
    made.arena.close()


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
def test_elements_and_gaps_are_told_apart(lengths: list[tuple[int, int]], random: Random) -> None:
    steps, step = [], 1
    for length, extra in reversed(lengths):
        step += extra
        steps.insert(0, step)
        step *= length
    shape = [length for length, _ in lengths]
    order = random.sample(range(len(shape)), len(shape))
    shape, steps = [shape[d] for d in order], [steps[d] for d in order]
    span = 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    places = {
        sum(i * s for i, s in zip(index, steps, strict=True)): index
        for index in product(*map(range, shape))
    }
    tensor = TensorSpec(
        name="x",
        dtype="float32",
        shape=tuple(shape),
        strides=tuple(steps),
        direction=Direction.IN,
    )
    assert tensor.span == span
    slots = BufferLayout(tensor, torch.float32, 0, 0)
    assert {at: slots.index(at) for at in range(span)} == {at: places.get(at) for at in range(span)}
    assert slots.dense == (len(places) == span)
