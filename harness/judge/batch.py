"""A batch of calls laid out in one arena: filled, fenced, and checked to the last byte.

Every tensor parameter has one buffer per call, all calls of a parameter side by side, each followed
by a guard band. A tensor with strides has gaps inside its buffer; they are guards, too. One call is
a batch of one: correctness and timing go the same way.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.device.base import Arena
from harness.judge.checker import Checker
from harness.judge.compare import compare
from harness.judge.digest import Digest
from harness.judge.receipt import Receipt
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import SLICE
from harness.problem.terms import DEFAULT_ALIGNMENT, Direction, Expectation, Role, TensorSpec
from harness.records.cases import Mismatch
from harness.wire.arguments import ScalarArgument, TensorArgument

GUARD_BYTES = 4096
ALIGNMENT = 512
"""Bytes that timed buffers, and those with the default alignment, are aligned to."""

_GUARD = 0xA5
_GAPS = (_GUARD, 0xFF)
"""Bytes between the rows of a tensor, in even and in odd calls: a write shows in one of two calls,
a read in odd ones, where they are NaN in all floating types."""
_POISON = (0xFF, 0x7B)
"""Every byte of an output before the call, in even and in odd calls. The first is NaN in all
floating types, so that reading it shows; the second a huge finite number, so that leaving out an
element shows even where NaN is expected. Both are no bool; an integer that is left out would have
to be −1 and then 0x7B7B… to go unnoticed."""

_RAW = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.int64}
"""Size of an element → the integer type that moves its bits as they are (16: two of them)."""


@dataclass(frozen=True, slots=True)
class BufferLayout:
    """Where the buffers of one tensor lie: call i at byte ``base + i * stride`` of the arena."""

    tensor: TensorSpec
    dtype: torch.dtype
    """Element type; of ``tensor.dtype``."""
    base: int
    """First byte of the first call's buffer."""
    stride: int
    """Bytes from one call's buffer to the next, guard band included."""

    @property
    def bytes(self) -> int:
        """Size of one buffer, gaps included."""
        return self.tensor.span * self.dtype.itemsize

    @property
    def dense(self) -> bool:
        """Whether there are no gaps."""
        return self.tensor.span == math.prod(self.tensor.shape)

    def elements(self, rows: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """The elements of buffers in ``rows`` (calls, stride), bytes; seen as ``dtype``.

        Of shape (calls, *shape), with the tensor's strides.
        """
        stride = self.stride // self.dtype.itemsize
        flat = rows.view(-1).view(dtype or self.dtype)
        return flat.as_strided((len(rows), *self.tensor.shape), (stride, *self.tensor.strides))

    def bits(self, rows: Tensor) -> Tensor:
        """The same as integers, for copying bits; complex128 has one more dimension, of two."""
        if self.dtype is torch.complex128:
            return torch.view_as_real(self.elements(rows)).view(torch.int64)
        return self.elements(rows, _RAW[self.dtype.itemsize])

    def index(self, offset: int) -> tuple[int, ...] | None:
        """Which element lies ``offset`` elements from the first; None for a gap."""
        shape, steps = self.tensor.shape, self.tensor.strides
        # From the largest stride on: the rest then lies within one step of it.
        order = sorted(range(len(shape)), key=lambda d: -steps[d])
        found = _decode(offset, [(shape[d], steps[d]) for d in order])
        if found is None:
            return None
        place = dict(zip(order, found, strict=True))
        return tuple(place[d] for d in range(len(order)))


def _decode(offset: int, axes: Sequence[tuple[int, int]]) -> list[int] | None:
    """The indices along ``axes`` (length, step; steps descending) that lead to ``offset``."""
    if not axes:
        return [] if offset == 0 else None
    (length, step), inner = axes[0], axes[1:]
    # Only indices that leave a rest within reach of the inner axes are tried: one, mostly.
    reach = sum((n - 1) * s for n, s in inner)
    lowest = max(0, -(-(offset - reach) // step)) if length > 1 else 0
    highest = min(length - 1, offset // step) if length > 1 else 0
    for index in range(lowest, highest + 1):
        rest = _decode(offset - index * step, inner)
        if rest is not None:
            return [index, *rest]
    return None


@dataclass(frozen=True, slots=True)
class Layout:
    """The buffers of all tensors of a batch; their ``size`` in bytes includes guard bands."""

    calls: int
    slots: tuple[BufferLayout, ...]
    size: int


@dataclass(frozen=True, slots=True)
class BatchMismatch:
    """The first fault found after a batch ran, in ``call`` (from 0).

    ``mismatch`` is that of a wrong output; None where something else was written.
    """

    call: int
    message: str
    mismatch: Mismatch | None = None


def lay_out(task: Task, case: Case, calls: int, *, portable: bool = False) -> Layout:
    """Place ``calls`` buffers of every tensor in an arena, guard bands between them.

    The buffers of a ``portable`` batch (a correctness case) are aligned to what the problem
    promises and no better, so that a submission that relies on more fails. Others are aligned to
    :data:`ALIGNMENT`. The size is the same for both.
    """
    slots = []
    offset = GUARD_BYTES
    for number, tensor in enumerate(task.problem.tensors_of(case, task.dtype)):
        kind = getattr(torch, tensor.dtype)
        stride = -(-(tensor.span * kind.itemsize + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
        promised = max(tensor.alignment, kind.itemsize)
        less = promised < DEFAULT_ALIGNMENT
        # An odd multiple of what is promised is a multiple of nothing more.
        shift = promised * (2 * number + 1) % ALIGNMENT if less and portable else 0
        slots.append(BufferLayout(tensor, kind, offset + shift, stride))
        # With room for any shift, so that the size does not depend on it.
        offset += stride * calls + (ALIGNMENT if less else 0)
    return Layout(calls, tuple(slots), offset)


class Batch:
    """Some calls of one case in an arena: filled, and checked after they ran.

    All inputs get values never seen before. Unless the batch is not ``checked``, every output is
    checked against the reference, inputs against a keyed digest of what they were, guards and gaps
    against the bytes that they are made of. No copy of the arena is kept: filling and checking take
    slices of bounded size beside it, and what the reference needs for one call. The values of a
    ``portable`` batch (a correctness case) are drawn on the CPU, so that they are the same on every
    machine, those of a timed batch on the device. A ``checker`` shared by batches may know the
    shape already.

    :meth:`inputs`, :meth:`outputs` and :meth:`check` need no runner: ``harness verify`` writes
    outputs where a submission would and has them judged in the same way.
    """

    def __init__(
        self,
        task: Task,
        case: Case,
        arena: Arena,
        calls: int,
        *,
        portable: bool = False,
        checked: bool = True,
        checker: Checker | None = None,
    ) -> None:
        self.case = case
        self._checker = checker or Checker(task)
        self._portable = portable
        self.checked = checked
        self.layout = lay_out(task, case, calls, portable=portable)
        self._task = task
        self._bytes = arena.bytes[: self.layout.size]
        self._inputs = task.problem.inputs()
        self._seed: str | None = None
        self._digest: Digest | None = None
        if checked:
            stretches = [(s.base, self._end(s)) for s in self._constant()]
            self._digest = Digest(self._bytes, stretches)
        spans = [(s.base, s.stride, s.bytes) for s in self._outputs()]
        self._receipt = Receipt(self._bytes, spans, calls)

    def arguments(self) -> tuple[TensorArgument | ScalarArgument, ...]:
        """The calls' arguments for the runner's ``prepare`` message, in the order of the call."""
        slots = {s.tensor.name: s for s in self.layout.slots}
        values = self.case.values
        return tuple(
            _tensor_argument(slots[p.name])
            if p.role is Role.TENSOR
            else ScalarArgument(ctype=p.type, value=values[p.name])
            for p in self._task.problem.parameters
        )

    def fill(self, seed: str) -> None:
        """Draw all inputs anew, poison the outputs, set the guards, take the digest of inputs."""
        self._write(self.layout.slots, seed, warm_up=False)
        self._seed = seed
        if self._digest is not None:
            self._digest.take()
        self._receipt.draw()

    def take_receipt(self) -> None:
        """Note parts of all outputs, which :meth:`written_late` compares; returns at once."""
        self._receipt.take()

    def written_late(self) -> BatchMismatch | None:
        """The fault of outputs that changed since :meth:`take_receipt`; before :meth:`check`."""
        call = self._receipt.first_change()
        if call is None:
            return None
        return BatchMismatch(call, "outputs were written after the submission said it was done")

    def fill_for_warm_up(self, seed: str) -> None:
        """Fill it for calls that are not checked: drawn on the device, ten times faster."""
        self._seed = None
        self._write(self.layout.slots, seed, warm_up=True)

    def inputs(self, call: int) -> dict[str, Tensor]:
        """The tensors that one call reads, as they were before the call; dense.

        Drawn again, so that what the call did changes nothing.
        """
        return {
            s.tensor.name: self._drawn_again(s, self._slice_of(s, call), call).contiguous()
            for s in self._read()
        }

    def outputs(self, call: int) -> dict[str, Tensor]:
        """The outputs of one call: views of the arena, with strides where they are declared."""
        return {s.tensor.name: self._view(self._bytes, s)[call] for s in self._outputs()}

    def expectations(self, call: int) -> Mapping[str, Expectation]:
        """The reference's expectations of one call's outputs.

        Raises:
            ProblemError: the reference is wrong.
        """
        return self._expectations(self.inputs(call))

    def reset(self) -> None:
        """Put outputs, gaps and guards back to what they were before the calls.

        What is only read is as it was: nothing but a submission writes there.
        """
        self._write(self._outputs(), self._known_seed(), warm_up=False)

    def check(
        self, expected: Sequence[Mapping[str, Expectation]] | None = None
    ) -> BatchMismatch | None:
        """Check every output of every call, then that nothing else changed; None if all is right.

        ``expected`` has the :meth:`expectations` of every call where they are known already.
        Nothing else may write to the arena meanwhile; inputs that were changed are put back.

        Raises:
            ProblemError: the reference is wrong.
        """
        changed = self._changed_input()
        if changed is not None:  # the reference reads them from the arena
            for slots in self._constant():
                self._write_buffers(slots, self._known_seed(), warm_up=False)
        if (wrong := self._wrong_output(expected)) is not None:
            return wrong
        places = [place for place in (changed, self._stray()) if place is not None]
        return BatchMismatch(*self._blame(min(places))) if places else None

    # -- filling ---------------------------------------------------------------------------------

    def _write(self, written: Sequence[BufferLayout], seed: str, *, warm_up: bool) -> None:
        """Write the guards between tensors, and the buffers of those to be ``written``."""
        for start, stop in self._between():
            self._bytes[start:stop].fill_(_GUARD)
        for slots in written:
            self._write_buffers(slots, seed, warm_up=warm_up)

    def _write_buffers(self, slots: BufferLayout, seed: str, *, warm_up: bool) -> None:
        """Write all buffers of one tensor, with their gaps and guard bands."""
        rows = self._rows(self._bytes, slots)
        for calls in self._slices(slots):
            here = rows[calls.start : calls.stop]
            self._write_slice(here, slots, calls, seed, warm_up=warm_up)

    def _write_slice(
        self, rows: Tensor, slots: BufferLayout, calls: range, seed: str, *, warm_up: bool
    ) -> None:
        """Write buffers of ``calls``, a slice, to ``rows`` (calls, stride): the arena's or not.

        The same bits each time: how they are drawn depends on the slice and the strides alone.
        """
        _fence(rows, slots, calls.start)
        if slots.tensor.direction is Direction.OUT:
            _poison(rows, slots, calls.start)
            return
        view = slots.elements(rows)
        if warm_up or not self._portable:
            first = f"{seed}/{calls.start}"
            self._inputs.fill(view, slots.tensor, self.case, first, warm_up=warm_up)
        else:
            for number, call in zip(calls, view, strict=True):
                call.copy_(self._inputs.draw(slots.tensor, self.case, f"{seed}/{number}"))

    def _slices(self, slots: BufferLayout) -> Iterator[range]:
        """The calls of one tensor that are drawn together, from one seed: a bounded number."""
        count = 1 if self._portable else max(1, SLICE // slots.stride)
        for start in range(0, self.layout.calls, count):
            yield range(start, min(start + count, self.layout.calls))

    def _slice_of(self, slots: BufferLayout, call: int) -> range:
        return next(calls for calls in self._slices(slots) if call in calls)

    def _known_seed(self) -> str:
        """The seed of :meth:`fill`; ValueError if it was not filled, or to warm up."""
        if self._seed is None:
            raise ValueError("a batch that was not filled has no inputs to be drawn again")
        return self._seed

    def _redrawn(self, slots: BufferLayout, calls: range) -> Tensor:
        """What :meth:`fill` wrote to a slice, drawn again: (calls, stride), uint8."""
        rows = self._bytes.new_empty((len(calls), slots.stride))
        self._write_slice(rows, slots, calls, self._known_seed(), warm_up=False)
        return rows

    def _drawn_again(self, slots: BufferLayout, calls: range, call: int) -> Tensor:
        """One call's elements, of a slice that is drawn again."""
        return slots.elements(self._redrawn(slots, calls))[call - calls.start]

    # -- checking --------------------------------------------------------------------------------

    def _wrong_output(
        self, expected: Sequence[Mapping[str, Expectation]] | None
    ) -> BatchMismatch | None:
        """The first call with a wrong output; inputs must be as they were."""
        calls = range(self.layout.calls)
        outputs = {s.tensor.name: self._numbers(self._bytes, s) for s in self._outputs()}
        again = _LastSlice(self)

        def each(call: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
            return again.inputs(call), {name: tensor[call] for name, tensor in outputs.items()}

        # Nearly all batches are right: seeing that takes one wait for the device. Only where it
        # fails is each call compared by itself, which says what is wrong.
        if expected is None and self._checker.all_surely_right(self.case, len(calls), each):
            return None
        for call in calls:
            known = self._expectations(again.inputs(call)) if expected is None else expected[call]
            for name, want in known.items():
                mismatch = compare(name, outputs[name][call], want.expected, want.allowed)
                if mismatch is not None:
                    counts = f"{mismatch.differing} of {mismatch.total}"
                    return BatchMismatch(call, f"{counts} elements of {name} are wrong", mismatch)
        return None

    def _expectations(self, inputs: Mapping[str, Tensor]) -> Mapping[str, Expectation]:
        return self._task.reference.expectations(self.case, self._task.dtype, inputs)

    def _read(self) -> list[BufferLayout]:
        """The buffers that a submission may read."""
        return [s for s in self.layout.slots if s.tensor.direction is not Direction.OUT]

    def _outputs(self) -> list[BufferLayout]:
        """The buffers that a submission may write to."""
        return [s for s in self.layout.slots if s.tensor.direction is not Direction.IN]

    def _constant(self) -> list[BufferLayout]:
        """The buffers that a submission may only read."""
        return [s for s in self.layout.slots if s.tensor.direction is Direction.IN]

    def _changed_input(self) -> int | None:
        """The first byte of what is only read, gaps and guards too, that is not as it was.

        Raises:
            ValueError: the batch was not filled, or is not checked.
        """
        if self._digest is None:
            raise ValueError("a batch that is not to be checked has no digest of its inputs")
        self._known_seed()
        changed = self._digest.first_change()
        if changed is None:
            return None
        slots = next(s for s in self.layout.slots if s.base <= changed < self._end(s))
        rows = self._rows(self._bytes, slots)
        for calls in self._slices(slots):
            if calls.stop * slots.stride > changed - slots.base:
                here = rows[calls.start : calls.stop]
                if (at := _first_difference(here, self._redrawn(slots, calls))) is not None:
                    changed = slots.base + calls.start * slots.stride + at
                    break
        return changed

    def _stray(self) -> int | None:
        """The first byte around an output, or between tensors, that is not as it was."""
        places = [self._stray_between(start, stop) for start, stop in self._between()]
        places += [self._stray_around(slots) for slots in self._outputs()]
        return min((place for place in places if place is not None), default=None)

    def _stray_between(self, start: int, stop: int) -> int | None:
        changed = (self._bytes[start:stop] != _GUARD).nonzero()
        return start + int(changed[0]) if len(changed) else None

    def _stray_around(self, slots: BufferLayout) -> int | None:
        """The place of the first write to a gap of an output's buffers, or to a guard band."""
        rows = self._rows(self._bytes, slots)
        if slots.dense:
            changed = (rows[:, slots.bytes :] != _GUARD).nonzero()
            if not len(changed):
                return None
            call, beyond = changed[0].tolist()
            return slots.base + int(call) * slots.stride + slots.bytes + int(beyond)
        for calls in self._slices(slots):
            here = rows[calls.start : calls.stop]
            right = torch.empty_like(here)
            _fence(right, slots, calls.start)
            slots.bits(right).copy_(slots.bits(here))
            if (at := _first_difference(here, right)) is not None:
                return slots.base + calls.start * slots.stride + at
        return None

    def _blame(self, offset: int) -> tuple[int, str]:
        """The call that a stray write at a byte of the arena is blamed on, and what it hit."""
        for slots in self.layout.slots:
            call, inside = divmod(offset - slots.base, slots.stride)
            if 0 <= call < self.layout.calls:
                return call, _place(slots, inside)
        after = [s for s in self.layout.slots if s.base > offset]
        name = (after or self.layout.slots)[0].tensor.name
        return 0, f"wrote out of bounds: before the start of {name}"

    # -- views -----------------------------------------------------------------------------------

    def _end(self, slots: BufferLayout) -> int:
        """The first byte after one tensor's buffers and their guard bands."""
        return slots.base + slots.stride * self.layout.calls

    def _between(self) -> list[tuple[int, int]]:
        """Where no tensor's buffers lie: before the first, between two, after the last."""
        ends = [0, *(self._end(slots) for slots in self.layout.slots)]
        return list(
            zip(ends, [*(s.base for s in self.layout.slots), self.layout.size], strict=True)
        )

    def _rows(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """One tensor's buffers in ``data``, each with its guard band: (calls, stride), uint8."""
        return data[slots.base : self._end(slots)].view(self.layout.calls, slots.stride)

    def _view(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """The elements of one tensor's buffers in ``data``: (calls, *shape)."""
        return slots.elements(self._rows(data, slots))

    def _numbers(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """The same, but for booleans: those as bytes, since not each byte is a boolean."""
        kind = torch.uint8 if slots.dtype is torch.bool else None
        return slots.elements(self._rows(data, slots), kind)


class _LastSlice:
    """Inputs of one call after the other: from the arena, or drawn again where it was overwritten.

    Of the latter it holds the slice of the last call.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._slices: dict[str, tuple[range, Tensor]] = {}

    def inputs(self, call: int) -> dict[str, Tensor]:
        """The tensors that one call read, dense; those that are only read must be as they were."""
        batch = self._batch
        return {
            s.tensor.name: (
                batch._view(batch._bytes, s)[call]
                if s.tensor.direction is Direction.IN
                else self._again(s, call)
            ).contiguous()
            for s in batch._read()
        }

    def _again(self, slots: BufferLayout, call: int) -> Tensor:
        calls, rows = self._slices.pop(slots.tensor.name, (range(0), self._batch._bytes))
        if call not in calls:
            del rows  # before others are drawn: one slice at a time
            calls = self._batch._slice_of(slots, call)
            rows = self._batch._redrawn(slots, calls)
        self._slices[slots.tensor.name] = (calls, rows)
        return slots.elements(rows)[call - calls.start]


def _fence(rows: Tensor, slots: BufferLayout, first: int) -> None:
    """Write gaps and guard bands of buffers from call ``first`` on: (calls, stride), uint8."""
    rows[:, slots.bytes :].fill_(_GUARD)
    if not slots.dense:
        for call, byte in enumerate(_GAPS):
            rows[(call - first) % 2 :: 2, : slots.bytes].fill_(byte)


def _poison(rows: Tensor, slots: BufferLayout, first: int) -> None:
    """Fill outputs with :data:`_POISON`, as integers of their size: gaps stay as they are."""
    bits = slots.bits(rows)
    for call, byte in enumerate(_POISON):
        pattern = bytes([byte]) * bits.element_size()
        bits[(call - first) % 2 :: 2].fill_(int.from_bytes(pattern, signed=bits.dtype.is_signed))


def _first_difference(one: Tensor, other: Tensor) -> int | None:
    """The first byte in which two dense tensors of bytes differ, compared slice by slice."""
    one, other = one.view(-1), other.view(-1)
    for start in range(0, len(one), SLICE):
        changed = one[start : start + SLICE] != other[start : start + SLICE]
        if bool(changed.any()):
            return start + int(changed.to(torch.uint8).argmax())
    return None


def _tensor_argument(slots: BufferLayout) -> TensorArgument:
    return TensorArgument(
        base=slots.base,
        stride=slots.stride,
        bytes=slots.bytes,
        shape=slots.tensor.shape,
        strides=slots.tensor.strides,
        dtype=slots.tensor.dtype,
    )


def _place(slots: BufferLayout, inside: int) -> str:
    """Describe a stray write ``inside`` bytes after the start of a buffer."""
    name, item = slots.tensor.name, slots.dtype.itemsize
    if inside >= slots.bytes:
        return f"wrote out of bounds: {inside - slots.bytes} bytes after the end of {name}"
    index = slots.index(inside // item)
    if index is None:
        between = "rows" if slots.tensor.strides[-1] == 1 else "elements"
        return f"wrote between the {between} of {name}"
    element = 0  # counted in row-major order, whatever the strides
    for here, length in zip(index, slots.tensor.shape, strict=True):
        element = element * length + here
    return f"const input {name} was changed (element {element})"
