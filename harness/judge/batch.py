"""A batch of calls laid out in one arena: filled, fenced, and checked to the last byte.

Every tensor parameter has one buffer per call, all calls of a parameter side by side, each followed
by a guard band. A tensor with strides has gaps inside its buffer; they are guards, too. One call is
a batch of one: correctness and timing go the same way.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.device.base import Arena
from harness.judge.checker import Checker
from harness.judge.compare import compare
from harness.judge.receipt import Receipt
from harness.judge.task import Task
from harness.judge.timed_families import other_families
from harness.problem.case import Case
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

_MAX_COMPARED = 1 << 28
"""Bytes of the arena compared at a time: comparing takes as many again."""

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
    checked against the reference, and every other byte against a private copy. The values of a
    ``portable`` batch (a correctness case) are drawn on the CPU, so that they are the same on every
    machine, those of a timed batch on the device; unless its calls are ``alike`` (a profile) a few
    of them have another family of values (:mod:`harness.judge.timed_families`). A ``checker``
    shared by batches may know the shape already.

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
        alike: bool = False,
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
        self._copy: Tensor | None = None
        self._families = () if portable or alike else task.problem.timed_families(task.dtype)
        self._others: dict[int, Case] = {}
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
        """Draw all inputs anew, poison the outputs, set the guards, make the private copy."""
        self._others = other_families(self._families, self.case, self.layout.calls, seed)
        self._write(seed, warm_up=False)
        self._copy = self._bytes.clone() if self.checked else None
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
        self._others = {}
        self._write(seed, warm_up=True)
        self._copy = None

    def _write(self, seed: str, *, warm_up: bool) -> None:
        """Write guards, then gaps, then contents: each overwrites part of the one before."""
        self._fence()
        for slots in self.layout.slots:
            if not slots.dense:
                buffers = self._rows(self._bytes, slots)[:, : slots.bytes]
                for parity, byte in enumerate(_GAPS):
                    buffers[parity::2].fill_(byte)
            view = self._view(self._bytes, slots)
            if slots.tensor.direction is Direction.OUT:
                self._poison(slots)
            elif warm_up or not self._portable:
                self._inputs.fill(view, slots.tensor, self.case, seed, warm_up=warm_up)
                for call, case in self._others.items():
                    one, own = view[call : call + 1], f"{seed}/{call}"
                    self._inputs.fill(one, slots.tensor, case, own, warm_up=False)
            else:
                for number, call in enumerate(view):
                    call.copy_(self._inputs.draw(slots.tensor, self.case, f"{seed}/{number}"))

    def inputs(self, call: int) -> dict[str, Tensor]:
        """The tensors that one call reads, as they were before the call; dense.

        From the judge's own copy: valid until the next :meth:`fill`, and not to be written to.
        """
        return {
            s.tensor.name: self._view(self._before(), s)[call].contiguous()
            for s in self.layout.slots
            if s.tensor.direction is not Direction.OUT
        }

    def outputs(self, call: int) -> dict[str, Tensor]:
        """The outputs of one call: views of the arena, with strides where they are declared."""
        return {s.tensor.name: self._view(self._bytes, s)[call] for s in self._outputs()}

    def expectations(self, call: int) -> Mapping[str, Expectation]:
        """The reference's expectations of one call's outputs.

        Raises:
            ProblemError: the reference is wrong.
        """
        case = self._others.get(call, self.case)
        return self._task.reference.expectations(case, self._task.dtype, self.inputs(call))

    def reset(self) -> None:
        """Put the whole arena back to what it was before the calls."""
        self._bytes.copy_(self._before())

    def check(
        self, expected: Sequence[Mapping[str, Expectation]] | None = None
    ) -> BatchMismatch | None:
        """Check every output of every call, then that nothing else changed; None if all is right.

        ``expected`` has the :meth:`expectations` of every call where they are known already. The
        outputs are copied first, so later writes change nothing.

        Raises:
            ProblemError: the reference is wrong.
        """
        before = self._before()
        outputs = {s.tensor.name: self._numbers(self._bytes, s).clone() for s in self._outputs()}
        unsure: Sequence[int] = range(self.layout.calls)
        alike = [call for call in unsure if call not in self._others]

        def each(number: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
            call = alike[number]
            return self.inputs(call), {name: tensor[call] for name, tensor in outputs.items()}

        # Nearly all batches are right: seeing that takes one wait for the device. Only where it
        # fails is each call compared by itself, which says what is wrong; and the few of another
        # family always are.
        if expected is None and self._checker.all_surely_right(self.case, len(alike), each):
            unsure = sorted(self._others)
        for call in unsure:
            known = self.expectations(call) if expected is None else expected[call]
            for name, want in known.items():
                mismatch = compare(name, outputs[name][call], want.expected, want.allowed)
                if mismatch is not None:
                    counts = f"{mismatch.differing} of {mismatch.total}"
                    return BatchMismatch(call, f"{counts} elements of {name} are wrong", mismatch)
        return self._check_rest(before)

    # -- filling and checking --------------------------------------------------------------------

    def _before(self) -> Tensor:
        """The private copy; ValueError if it was not filled, or for calls that are not checked."""
        if self._copy is None:
            raise ValueError("a batch that is not to be checked has no copy of its inputs")
        return self._copy

    def _outputs(self) -> list[BufferLayout]:
        """The buffers that a submission may write to."""
        return [s for s in self.layout.slots if s.tensor.direction is not Direction.IN]

    def _fence(self) -> None:
        """Write guards before, between and after the buffers."""
        end = 0
        for slots in self.layout.slots:
            self._bytes[end : slots.base].fill_(_GUARD)
            self._rows(self._bytes, slots)[:, slots.bytes :].fill_(_GUARD)
            end = slots.base + slots.stride * self.layout.calls
        self._bytes[end:].fill_(_GUARD)

    def _poison(self, slots: BufferLayout) -> None:
        """Fill outputs with :data:`_POISON`, as integers of their size: gaps stay as they are."""
        raw = self._raw(self._bytes, slots)
        for parity, byte in enumerate(_POISON):
            pattern = bytes([byte]) * raw.element_size()
            raw[parity::2].fill_(int.from_bytes(pattern, signed=raw.dtype.is_signed))

    def _check_rest(self, before: Tensor) -> BatchMismatch | None:
        """Check that nothing else changed: with its outputs put back the arena equals the copy."""
        after = self._bytes
        for slots in self._outputs():
            self._raw(after, slots).copy_(self._raw(before, slots))
        for start in range(0, len(after), _MAX_COMPARED):
            one, other = before[start : start + _MAX_COMPARED], after[start : start + _MAX_COMPARED]
            # In words of eight bytes, which there are whole: bytes would take four times as long.
            if not torch.equal(one.view(torch.int64), other.view(torch.int64)):
                return BatchMismatch(*self._blame(start + int((one != other).nonzero()[0])))
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

    def _rows(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """One tensor's buffers in ``data``, each with its guard band: (calls, stride), uint8."""
        calls, stride = self.layout.calls, slots.stride
        return data[slots.base : slots.base + stride * calls].view(calls, stride)

    def _view(self, data: Tensor, slots: BufferLayout, dtype: torch.dtype | None = None) -> Tensor:
        """The elements of one tensor's buffers in ``data``, seen as ``dtype``: (calls, *shape)."""
        flat = self._rows(data, slots).view(-1).view(dtype or slots.dtype)
        tensor, stride = slots.tensor, slots.stride // slots.dtype.itemsize
        return flat.as_strided((self.layout.calls, *tensor.shape), (stride, *tensor.strides))

    def _numbers(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """The same, but for booleans: those as bytes, since not each byte is a boolean."""
        return self._view(data, slots, torch.uint8 if slots.dtype is torch.bool else None)

    def _raw(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """The same as integers, for copying bits; complex128 has one more dimension, of two."""
        if slots.dtype is torch.complex128:
            return torch.view_as_real(self._view(data, slots)).view(torch.int64)
        return self._view(data, slots, _RAW[slots.dtype.itemsize])


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
