"""Where the buffers of a batch lie in its arena.

Every tensor parameter has one buffer per call, all calls of a parameter side by side, each followed
by a guard band. A tensor with strides has gaps inside its buffer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.terms import DEFAULT_ALIGNMENT, Direction, TensorSpec
from harness.wire.arguments import TensorArgument

GUARD_BYTES = 4096
ALIGNMENT = 512
"""Bytes that timed buffers, and those with the default alignment, are aligned to."""

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

    @property
    def argument(self) -> TensorArgument:
        """What the runner is told of it."""
        return TensorArgument(
            base=self.base,
            stride=self.stride,
            bytes=self.bytes,
            shape=self.tensor.shape,
            strides=self.tensor.strides,
            dtype=self.tensor.dtype,
            zeroed=self.tensor.zeroed,
            seen_as=self.tensor.seen_as,
            on_host=self.tensor.on_host,
        )

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

    @property
    def read(self) -> list[BufferLayout]:
        """The buffers that a submission may read."""
        return [s for s in self.slots if s.tensor.direction is not Direction.OUT]

    @property
    def outputs(self) -> list[BufferLayout]:
        """The buffers that it may write to."""
        return [s for s in self.slots if s.tensor.direction is not Direction.IN]

    @property
    def constant(self) -> list[BufferLayout]:
        """The buffers that it may only read."""
        return [s for s in self.slots if s.tensor.direction is Direction.IN]

    @property
    def between(self) -> list[tuple[int, int]]:
        """Where no tensor's buffers lie: before the first, between two, after the last."""
        ends = [0, *(self.end(slots) for slots in self.slots)]
        starts = [*(slots.base for slots in self.slots), self.size]
        return list(zip(ends, starts, strict=True))

    def end(self, slots: BufferLayout) -> int:
        """The first byte after one tensor's buffers and their guard bands."""
        return slots.base + slots.stride * self.calls

    def rows(self, data: Tensor, slots: BufferLayout) -> Tensor:
        """One tensor's buffers in ``data``, each with its guard band: (calls, stride), uint8."""
        return data[slots.base : self.end(slots)].view(self.calls, slots.stride)

    def elements(
        self, data: Tensor, slots: BufferLayout, dtype: torch.dtype | None = None
    ) -> Tensor:
        """The elements of one tensor's buffers in ``data``: (calls, *shape), seen as ``dtype``."""
        return slots.elements(self.rows(data, slots), dtype)

    def blame(self, offset: int) -> tuple[int, str]:
        """The call that a stray write at a byte of the arena is blamed on, and what it hit."""
        for slots in self.slots:
            call, inside = divmod(offset - slots.base, slots.stride)
            if 0 <= call < self.calls:
                return call, _place(slots, inside)
        after = [s for s in self.slots if s.base > offset]
        name = (after or self.slots)[0].tensor.name
        return 0, f"wrote out of bounds: before the start of {name}"


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
