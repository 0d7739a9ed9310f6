"""A batch of calls laid out in one arena: filled, fenced, and checked to the last byte.

Every tensor parameter has one buffer per call, all calls of a parameter side by side, each followed
by a guard band. One call is a batch of one: correctness and timing go the same way.
"""

import math
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import torch

from harness.judge.compare import compare
from harness.judge.memory import Arena
from harness.judge.task import Task
from harness.problem.draws import Case
from harness.problem.model import Direction, Parameter, Role
from harness.problem.tensors import draw_tensor
from harness.problem.tolerance import expectations
from harness.problem.values import fill
from harness.result import Mismatch

GUARD_BYTES = 4096
_ALIGNMENT = 512
_GUARD = 0xA5
_POISON = 0xFF
"""Every byte of an output before the call: NaN in all floating types."""


@dataclass(frozen=True, slots=True)
class Slots:
    """Where the buffers of one tensor parameter lie: call i at byte ``base + i * stride``."""

    parameter: Parameter
    dtype: torch.dtype
    shape: tuple[int, ...]
    base: int
    stride: int

    @property
    def bytes(self) -> int:
        """Size of one buffer."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Layout:
    """All slots of a batch and the bytes they take."""

    calls: int
    slots: tuple[Slots, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Problems:
    """What was found wrong after a batch ran."""

    call: int
    message: str
    mismatch: Mismatch | None = None


def lay_out(task: Task, case: Case, calls: int) -> Layout:
    """Place ``calls`` buffers of every tensor, guard bands between them."""
    slots = []
    offset = GUARD_BYTES
    for parameter in task.problem.tensors:
        kind = getattr(torch, parameter.data_type(task.dtype).name)
        shape = tuple(parameter.dimensions(case.values))
        used = math.prod(shape) * kind.itemsize
        stride = -(-(used + GUARD_BYTES) // _ALIGNMENT) * _ALIGNMENT
        slots.append(Slots(parameter, kind, shape, offset, stride))
        offset += stride * calls
    return Layout(calls, tuple(slots), offset)


class Batch:
    """``calls`` calls of one case in an arena.

    The judge fills all inputs with values never seen before, keeps a private copy of everything,
    and afterwards checks every output against the reference and every other byte against the copy.
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
    ) -> None:
        self.case = case
        self._portable = portable
        self._checked = checked
        self.layout = lay_out(task, case, calls)
        self._task = task
        self._bytes = arena.bytes[: self.layout.size]
        self._copy: torch.Tensor | None = None

    def arguments(self) -> list[dict[str, Any]]:
        """The calls' arguments as the runner is told them."""
        slots = {s.parameter.name: s for s in self.layout.slots}
        values = self.case.values
        return [
            _tensor_argument(slots[p.name])
            if p.role is Role.TENSOR
            else {"ctype": p.type, "value": values[p.name]}
            for p in self._task.problem.parameters
        ]

    def fill(self, seed: str) -> None:
        """Draw all inputs anew, poison the outputs, set the guard bands, keep a private copy.

        The values of a ``portable`` batch (a correctness case) are drawn on the CPU, so that they
        are the same on every machine; those of a timed batch on the device.
        """
        self._bytes.fill_(_GUARD)
        for slots in self.layout.slots:
            view = self._view(self._bytes, slots)
            if slots.parameter.direction is Direction.OUT:
                view.view(torch.uint8).fill_(_POISON)
            elif self._portable:
                for number, call in enumerate(view):
                    call.view(slots.shape).copy_(self._draw_one(slots, f"{seed}/{number}"))
            else:
                generator = torch.Generator(device=view.device)
                generator.manual_seed(_seed_bits(f"{seed}/{self.case.spec}/{slots.parameter.name}"))
                fill(view, slots.parameter, generator=generator, family=self.case.family)
        self._copy = self._bytes.clone() if self._checked else None

    def _draw_one(self, slots: Slots, seed: str) -> torch.Tensor:
        task = self._task
        return draw_tensor(task.problem, slots.parameter, self.case, task.dtype, seed)

    def check(self) -> Problems | None:
        """Check every output of every call, then that nothing else changed; None if all is right.

        The outputs are copied first, so what is judged is what was there at this moment.
        """
        assert self._copy is not None
        outputs = {
            slots.parameter.name: self._view(self._bytes, slots).clone()
            for slots in self.layout.slots
            if slots.parameter.direction is not Direction.IN
        }
        for call in range(self.layout.calls):
            found = self._check_call(call, self._copy, outputs)
            if found is not None:
                return found
        return self._check_rest(self._copy)

    def _check_call(
        self, call: int, before: torch.Tensor, outputs: dict[str, torch.Tensor]
    ) -> Problems | None:
        tensors = {
            s.parameter.name: self._view(before, s)[call].view(s.shape)
            for s in self.layout.slots
            if s.parameter.direction is not Direction.OUT
        }
        task = self._task
        wanted = expectations(task.reference, task.problem, self.case, task.dtype, tensors)
        for slots in self.layout.slots:
            name = slots.parameter.name
            if name not in outputs:
                continue
            got = outputs[name][call].view(slots.shape)
            mismatch = compare(name, got, wanted[name].expected, wanted[name].allowed)
            if mismatch is not None:
                return Problems(call, _describe(mismatch), mismatch)
        return None

    def _check_rest(self, before: torch.Tensor) -> Problems | None:
        """Nothing but the outputs may have changed; they are put back, so that all must agree."""
        after = self._bytes
        for slots in self.layout.slots:
            if slots.parameter.direction is not Direction.IN:
                self._view(after, slots).copy_(self._view(before, slots))
        if torch.equal(before, after):
            return None
        offset = int((before != after).nonzero()[0])
        return Problems(*self._blame(offset))

    def _blame(self, offset: int) -> tuple[int, str]:
        """Which buffer a stray write at a byte of the arena hit, in words."""
        for slots in self.layout.slots:
            call, inside = divmod(offset - slots.base, slots.stride)
            if 0 <= call < self.layout.calls:
                name = slots.parameter.name
                if inside < slots.bytes:
                    element = inside // slots.dtype.itemsize
                    return call, f"const input {name} was changed (element {element})"
                beyond = inside - slots.bytes
                return call, f"wrote out of bounds: {beyond} bytes after the end of {name}"
        name = self.layout.slots[0].parameter.name
        return 0, f"wrote out of bounds: before the start of {name}"

    def _view(self, data: torch.Tensor, slots: Slots) -> torch.Tensor:
        """(calls, elements) over one parameter's buffers in ``data``."""
        item = slots.dtype.itemsize
        end = slots.base + slots.stride * self.layout.calls
        rows = data[slots.base : end].view(slots.dtype).view(self.layout.calls, -1)
        return rows[:, : slots.bytes // item]


def _tensor_argument(slots: Slots) -> dict[str, Any]:
    return {
        "base": slots.base,
        "stride": slots.stride,
        "bytes": slots.bytes,
        "shape": list(slots.shape),
        "dtype": str(slots.dtype).removeprefix("torch."),
    }


def _seed_bits(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") >> 1


def _describe(mismatch: Mismatch) -> str:
    return f"{mismatch.differing} of {mismatch.total} elements of {mismatch.parameter} are wrong"
