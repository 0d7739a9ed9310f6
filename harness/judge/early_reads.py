"""Finds calls that read their inputs before the call before them had ended.

Calls that overlap take less time than they would one after the other, and no clock outside of them
can tell by how much. Their reads can: while a batch is at work, the judge replaces the inputs of
the call that comes after one which has surely not ended, since a word of its output is still what
it was before the batch. If calls run one after the other, the next one has not begun, and answers
for the new inputs; one that had read the old ones is wrong.

A call may also be given what it has not earned by having its inputs fetched into the cache before
its turn, which changes no answer. So the look also measures how long a few words of that call's
inputs take to be read, and as many of a call that comes much later. It does so before it looks at
many words of outputs, which leaves little else in the cache.

Nothing is taken on trust: which call has not ended is read from memory before and after its
neighbour's inputs are replaced, and it counts only if that word is written later on. So no honest
call can be wrong here, however processes share the device.
"""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import torch
from torch import Generator, Tensor

from harness.judge.batch import Batch
from harness.judge.compare import compare_all, every_surely_right
from harness.judge.layout import BufferLayout, Layout, lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.terms import Expectation

T = TypeVar("T", int, Tensor)

MAX_LOOKS = 64
"""Looks during one batch, at most."""

_TIMED, _APART = 128, 1 << 11
"""Words of each large input of a call whose reading is timed, at most; and one in so many bytes, at
most: more would bring too large a part of it into the cache themselves."""
_LARGE = 1 << 16
"""Bytes from which on an input is large: of smaller ones too few words would tell."""
_PLACES, _LEAST_PLACES, _MOST_PLACES = 1 << 18, 64, 1024
"""Words of outputs that are looked at, of all calls together, a line of the cache each. And of each
output of a call, at least and at most: of 256 words nine looks in ten see that 1 % of it is still
missing."""
_FEW = 16
"""Words of a call's outputs that tell about how far the batch is, and leave the cache as it is."""
_WORD = 8
_NOTED = 5
"""Numbers that a look writes down before its cycles and words."""


class Progress(NamedTuple):
    """How many calls of a batch were done, at a moment of :func:`time.perf_counter`.

    Those before the last that had begun to write: of one that lacks a few words these may not be
    among those that are looked at, or have been changed by what stands beside them.
    """

    done: int
    at_s: float


@dataclass(frozen=True, slots=True)
class Found:
    """What the looks during one batch came to.

    ``looks`` is how many saw a call that was at work while the next one's inputs were replaced;
    ``early`` is the number of a call (from 0) that had read its inputs by then, if any had.
    ``cached`` has, of looks that tell it, the part of the next call's large inputs that was in the
    cache, less that of a later call's. ``progress`` is how far the batch was at the first look;
    None if that is not known.
    """

    looks: int
    early: int | None = None
    cached: tuple[float, ...] = ()
    progress: Progress | None = None


class _Buffers:
    """Memory of the judge's own, as large as a batch of one call."""

    def __init__(self, size: int, device: str) -> None:
        self.size = size
        self.fd = -1
        self.bytes = torch.empty(size, dtype=torch.uint8, device=device)

    def close(self) -> None:
        """Nothing to give back: torch does."""


class _Words:
    """Draws words that hold an element of a tensor: ``count`` of it in every call.

    Each from a stretch of its own, of which a tensor has as many. Between the rows of a tensor with
    strides nothing is ever written.
    """

    def __init__(self, calls: int, generator: Generator, slots: BufferLayout, count: int) -> None:
        device = generator.device
        self._generator = generator
        self._slots = slots
        self._shape = calls, count
        self._stretches = torch.arange(count, device=device)
        self._first = slots.base + slots.stride * torch.arange(calls, device=device)[:, None]

    def draw(self, *sets: int) -> Tensor:
        """The number of each in the arena: int64 of shape (*sets, calls, count)."""
        part = torch.rand(
            (*sets, *self._shape),
            generator=self._generator,
            device=self._stretches.device,
            dtype=torch.float64,
        )
        stretch = math.prod(self._slots.tensor.shape) / self._shape[1]
        element = self._offset(((self._stretches + part) * stretch).long())
        return (self._first + element * self._slots.dtype.itemsize) // _WORD

    def _offset(self, number: Tensor) -> Tensor:
        """Where elements with these numbers lie, as many elements from the first."""
        tensor = self._slots.tensor
        if self._slots.dense:  # in whatever order
            return number
        offset = torch.zeros_like(number)
        for length, step in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
            offset += number % max(length, 1) * step
            number = number // max(length, 1)
        return offset


class EarlyReads:
    """Looks at a ``batch`` at work, and replaces inputs of calls that must not have begun."""

    def __init__(self, task: Task, case: Case, batch: Batch) -> None:
        device = task.device.torch_device
        calls = batch.layout.calls
        self.batch = batch
        self._calls = calls
        one = lay_out(task, case, 1)
        self._one = Batch(task, case, _Buffers(one.size, device), 1)
        self._words = batch.bytes.view(torch.int64)
        written, read = batch.layout.outputs, batch.layout.read
        self.possible = bool(read) and calls > 1
        """Whether there is anything to see: several calls, and inputs."""
        if not self.possible:
            return
        self._rows = [batch.layout.rows(batch.bytes, s).view(torch.int64) for s in read]
        self._others = [
            self._one.layout.rows(self._one.bytes, s).view(torch.int64)
            for s in self._one.layout.read
        ]
        fair = _PLACES // (calls * len(written))
        self._per_output = min(max(fair, _LEAST_PLACES), _MOST_PLACES)
        places = (calls, self._per_output * len(written))
        draw = partial(_Words, calls, Generator(device).manual_seed(secrets.randbits(63)))
        self._of_outputs = [draw(slots, self._per_output) for slots in written]
        self._every = max(1, places[1] // _FEW)
        self._places = torch.zeros(places, dtype=torch.int64, device=device)
        self._unwritten = torch.zeros(places, dtype=torch.int64, device=device)
        self._large = [s for s in read if s.bytes >= _LARGE]
        self._timer = task.device.read_times() if self._large else None
        counts = [min(_TIMED, each.bytes // _APART) for each in self._large]
        self._of_large = [draw(*each) for each in zip(self._large, counts, strict=True)]
        # Places of their own for later calls: what was timed once is in the cache from then on.
        words = sum(counts)
        self._timed = torch.zeros((2, calls, words), dtype=torch.int64, device=device)
        self._cycles = torch.zeros((2, words), dtype=torch.int64, device=device)
        self._clock = task.device.clock()
        self._within = task.device.within
        self._ahead_s = 0.0
        self._now = torch.zeros(1, dtype=torch.int64, device=device)
        columns = _NOTED + self._cycles.numel() + self._places.shape[1]
        self._log = torch.zeros((MAX_LOOKS, columns), dtype=torch.int64, device=device)
        self._count = torch.zeros(1, dtype=torch.int64, device=device)
        self._expected: Mapping[str, Expectation] = {}
        self._look = task.device.recorded(self._look_now)

    def prepare(self, seed: str) -> None:
        """Draw other inputs, and the places to look at, before a batch is filled."""
        self._one.fill(seed)
        self._expected = self._one.expectations(0)
        torch.cat([each.draw() for each in self._of_outputs], dim=1, out=self._places)
        if self._timer is not None:
            torch.cat([each.draw(2) for each in self._of_large], dim=2, out=self._timed)
        self._count.zero_()

    @property
    def layout(self) -> Layout:
        """The batch's."""
        return self.batch.layout

    def fill(self, seed: str) -> None:
        """Fill the batch, and note what the words of outputs are before they are written."""
        self.batch.fill(seed)
        self._unwritten.copy_(self._words[self._places])
        if self._clock is not None:
            self._ahead_s = self._clock.ahead_s()

    def take_receipt(self) -> None:
        """Take the batch's."""
        self.batch.take_receipt()

    def look(self) -> None:
        """Look at the calls, and replace inputs; returns before the device has done so."""
        self._look()

    def _look_now(self) -> None:
        places, words = self._places, self._words
        if self._clock is not None:
            self._clock.write(self._now)
        timed = self._after(_first(self._unchanged(slice(None, None, self._every)).any(1)))
        self._time_reads(timed)
        unchanged = self._unchanged(slice(None))
        waiting = unchanged.any(1)
        done = ((~unchanged).any(1).sum() - 1).clamp_(min=0).view(1)
        first = _first(waiting)
        replaced = waiting.any() & (first + 1 < self._calls)
        target = self._after(first)
        for rows, other in zip(self._rows, self._others, strict=True):
            rows.index_copy_(0, target, torch.where(replaced, other, rows[target]))
        # Of an output that is an input as well, other values are now what nobody has written.
        known = torch.where(replaced, words[places[target]], self._unwritten[target])
        self._unwritten.index_copy_(0, target, known)
        after = words[places[first]].view(-1)
        row = [first, replaced.long(), done, self._now, timed, self._cycles.view(-1), after]
        at = self._count.clamp(max=MAX_LOOKS - 1)
        self._log.index_copy_(0, at, torch.cat(row).view(1, -1))
        self._count += 1

    def _unchanged(self, columns: slice) -> Tensor:
        """Which words of outputs nobody has written, of those ``columns`` of all calls' places."""
        return self._words[self._places[:, columns]] == self._unwritten[:, columns]

    def _after(self, call: Tensor) -> Tensor:
        """The call after ``call``, or the last."""
        return (call + 1).clamp_(max=self._calls - 1)

    def _time_reads(self, target: Tensor) -> None:
        """Time reads of the inputs of the call ``target``, and of one halfway to the last."""
        if self._timer is None:
            return
        later = self._later(target)
        for call, places, cycles in zip((later, target), self._timed, self._cycles, strict=True):
            self._timer.measure(self._words, places[call].view(-1), cycles)

    def _later(self, target: T) -> T:
        """The call halfway from ``target`` to the last."""
        return (target + self._calls - 1) // 2

    def found(self) -> Found:
        """What the looks came to, once the batch is done and its runner stopped.

        Raises:
            ProblemError: the reference is wrong.
        """
        count = min(int(self._count), MAX_LOOKS)
        log = self._log[:count]
        cycles, after = log[:, _NOTED:].tensor_split([self._cycles.numel()], dim=1)
        calls, was_replaced, _, _, timed = log[:, :_NOTED].unbind(1)
        replaced = was_replaced.bool()
        unwritten = self._unwritten[calls]
        last = self._words[self._places[calls]]
        # A word that was still to be written once the inputs had been replaced, and then was.
        sure = replaced & ((after == unwritten) & (last != unwritten)).any(1)
        begun = (calls > 0) | (after != unwritten).any(1)
        looks = int((sure & begun).sum())
        # Inputs that were replaced once more may have been so while they were in use, or written.
        doubtful = set((calls[replaced & ~sure] + 1).tolist())
        following = sorted(set((calls[sure] + 1).tolist()) - doubtful)
        if (early := self._first_wrong(following)) is not None:
            return Found(looks, early)
        # Of a call that was at work by then, or comes later than the next, it tells nothing.
        cached = self._cached(calls, timed, sure & begun & (timed == calls + 1), cycles)
        return Found(looks, cached=cached, progress=self._progress(log))

    def _first_wrong(self, calls: Sequence[int]) -> int | None:
        """The first of ``calls`` that does not answer for the other inputs; seen at once if none.

        Raises:
            ProblemError: the reference is wrong.
        """
        answers = {call: self.batch.outputs(call) for call in calls}
        known = self._expected
        if every_surely_right(((each, known) for each in answers.values()), self._within):
            return None
        wrong = (call for call, each in answers.items() if compare_all(each, known) is not None)
        return next(wrong, None)

    def _progress(self, log: Tensor) -> Progress | None:
        """How far the batch was at the first look, if calls were still to come."""
        if self._clock is None or not len(log):
            return None
        _, replaced, done, now, _ = log[0, :_NOTED].tolist()
        return Progress(done, now * 1e-9 - self._ahead_s) if replaced else None

    def _cached(
        self, calls: Tensor, timed: Tensor, counts: Tensor, cycles: Tensor
    ) -> tuple[float, ...]:
        """What the next call's inputs were cached more than a later call's, by look."""
        if self._timer is None or not len(calls):
            return ()
        below = self._timer.cached_below
        parts = ((cycles > 0) & (cycles < below)).double().view(len(calls), 2, -1).mean(2)
        found: list[float] = []
        touched: set[int] = set()  # by looks before: replaced, or read to be timed
        for first, target, right, (later, following) in zip(
            calls.tolist(), timed.tolist(), counts.tolist(), parts.tolist(), strict=True
        ):
            pair = {target, self._later(target)}
            if right and len(pair) == 2 and touched.isdisjoint(pair):
                found.append(following - later)
            touched |= pair | {first + 1}
        return tuple(found)


def _first(calls: Tensor) -> Tensor:
    """The number of the first of ``calls`` that is True (shape (1,)); 0 if none is."""
    return calls.to(torch.uint8).argmax().view(1)
