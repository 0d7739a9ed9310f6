"""What is written to the buffers of a batch before its calls, slice by slice.

Whatever is written can be written again, bit for bit, elsewhere: for inputs that the calls have
overwritten, and to find out what was changed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import Tensor

from harness.judge.drawn_ahead import Wanted, by_drawing, drawing
from harness.judge.layout import BufferLayout, Layout
from harness.judge.task import Task
from harness.judge.timed_families import other_families
from harness.problem.case import Case
from harness.problem.gradable import InputSource
from harness.problem.sampling.drawn_on_device import DrawnOnDevice
from harness.problem.sampling.footprint import SLICE
from harness.problem.terms import Direction, TensorSpec

GUARD = 0xA5
_GAPS = (GUARD, 0xFF)
"""Bytes between the rows of a tensor, in even and in odd calls: a write shows in one of two calls,
a read in odd ones, where they are NaN in all floating types."""
POISON = (0xFF, 0x7B)
"""Every byte of an output before the call, in even and in odd calls. The first is NaN in all
floating types, so that reading it shows; the second a huge finite number, so that leaving out an
element shows even where NaN is expected. Both are no bool; an integer that is left out would have
to be −1 and then 0x7B7B… to go unnoticed."""


class Contents:
    """Guards, gaps, poison and inputs of a batch, from a seed.

    How inputs are drawn depends on the slice that their call is in and on the tensor's strides, not
    on where they are written. Those of a ``portable`` batch are drawn call by call, on the CPU; of
    others, unless they are ``alike``, a few calls have values of another family. ``inputs`` draws
    them, the problem's own source without.
    """

    def __init__(
        self,
        task: Task,
        case: Case,
        layout: Layout,
        *,
        portable: bool,
        alike: bool = False,
        inputs: InputSource | None = None,
    ) -> None:
        self._task = task
        self._case = case
        self._inputs = inputs or task.problem.inputs()
        self._on_device: DrawnOnDevice | None = None
        problem, device = task.problem.declared, task.device
        if problem is not None and not (portable or device.emulated):
            self._on_device = DrawnOnDevice(problem, self._inputs, device.torch_device)
            self._inputs = self._on_device
        self._layout = layout
        self._portable = portable
        self._families = () if portable or alike else task.problem.timed_families(task.dtype)
        self._others: tuple[str, dict[int, Case]] = ("", {})

    def others(self, seed: str) -> dict[int, Case]:
        """The calls (from 0) with values of another family, each with its own case."""
        if self._others[0] != seed:
            chosen = other_families(self._families, self._case, self._layout.calls, seed)
            self._others = (seed, chosen)
        return self._others[1]

    def case_of(self, call: int, seed: str) -> Case:
        """The case of one call (from 0): another family's for a few."""
        return self.others(seed).get(call, self._case)

    def write(
        self,
        data: Tensor,
        written: Sequence[BufferLayout],
        seed: str,
        *,
        warm_up: bool = False,
        once: bool = False,
    ) -> None:
        """Write the guards between tensors to ``data``, and the buffers of those ``written``.

        With ``once`` what an author draws is drawn for the first call alone, and serves all. So it
        is in a ``warm_up``. Of that nothing is checked, so only what calls read is written.
        """
        if warm_up:
            once = True
            written = [s for s in written if s.tensor.direction is not Direction.OUT]
        else:
            for start, stop in self._layout.between:
                data[start:stop].fill_(GUARD)
        for slots in written:
            if not slots.tensor.together:
                self.write_buffers(data, slots, seed, warm_up=warm_up)
        together = [(s, self._layout.rows(data, s)) for s in written if s.tensor.together]
        if once:
            self._write_once(together, seed)
        else:
            self._write_each(together, seed)
        if self._on_device is not None:
            self._on_device.forget()

    def _write_once(self, together: Sequence[tuple[BufferLayout, Tensor]], seed: str) -> None:
        """Write one drawing of tensors that are drawn ``together`` to the buffers of all calls."""
        for slots, rows in together:
            fence(rows, slots, 0)
            view = slots.elements(rows)
            self._inputs.write(view[0], slots.tensor, self._case, f"{seed}/0")
            view[1:] = view[0]

    def _write_each(self, together: Sequence[tuple[BufferLayout, Tensor]], seed: str) -> None:
        """Write a drawing of each call's own."""
        with self._drawing([s.tensor for s, _ in together], seed) as inputs:
            for call in range(self._layout.calls):  # so that each is drawn once, whatever is kept
                for slots, rows in together:
                    one, here = range(call, call + 1), rows[call : call + 1]
                    self.write_slice(here, slots, one, seed, inputs=inputs)

    @contextmanager
    def _drawing(self, together: Sequence[TensorSpec], seed: str) -> Iterator[InputSource]:
        """What draws tensors that are drawn ``together``: by processors those of many calls."""
        wanted = []
        for call in range(self._layout.calls) if together and not self._portable else ():
            case = self.case_of(call, seed)
            if self._on_device is None or not self._on_device.works(case):
                parts = by_drawing(together)
                wanted += [Wanted(drawn, case, f"{seed}/{call}") for drawn in parts]
        if not wanted:
            yield self._inputs
            return
        with drawing(self._task, self._inputs, wanted) as inputs:
            yield inputs

    def write_buffers(
        self, data: Tensor, slots: BufferLayout, seed: str, *, warm_up: bool = False
    ) -> None:
        """Write all buffers of one tensor, with their gaps and guard bands."""
        rows = self._layout.rows(data, slots)
        drawn = slots.tensor.direction is not Direction.OUT
        for calls in self.slices(slots) if drawn else [range(self._layout.calls)]:
            here = rows[calls.start : calls.stop]
            self.write_slice(here, slots, calls, seed, warm_up=warm_up)

    def slices(self, slots: BufferLayout) -> Iterator[range]:
        """The calls of one tensor that are drawn together, from one seed: a bounded number."""
        alone = self._portable or slots.tensor.together
        count = 1 if alone else max(1, SLICE // slots.stride)
        for start in range(0, self._layout.calls, count):
            yield range(start, min(start + count, self._layout.calls))

    def write_slice(
        self,
        rows: Tensor,
        slots: BufferLayout,
        calls: range,
        seed: str,
        *,
        warm_up: bool = False,
        inputs: InputSource | None = None,
    ) -> None:
        """Write the buffers of one of the :meth:`slices` to ``rows``: (calls, stride), uint8.

        What is drawn call by call, ``inputs`` may have drawn already.
        """
        fence(rows, slots, calls.start)
        if slots.tensor.direction is Direction.OUT:
            _set_outputs(rows, slots, calls.start)
            return
        view = slots.elements(rows)
        if slots.tensor.together or (self._portable and not warm_up):
            for number, call in zip(calls, view, strict=True):
                # What a warm-up comes to is not checked: the first call's inputs serve all.
                which, case = (0, self._case) if warm_up else (number, self.case_of(number, seed))
                (inputs or self._inputs).write(call, slots.tensor, case, f"{seed}/{which}")
            return
        first = f"{seed}/{calls.start}"
        self._inputs.fill(view, slots.tensor, self._case, first, warm_up=warm_up)
        for number, case in () if warm_up else self.others(seed).items():
            if number in calls:
                one = view[number - calls.start : number - calls.start + 1]
                self._inputs.fill(one, slots.tensor, case, f"{seed}/{number}", warm_up=False)


class LastSlice:
    """The elements of one tensor in one call after the other, drawn again; holds one slice."""

    def __init__(self, contents: Contents, slots: BufferLayout, like: Tensor, seed: str) -> None:
        self._contents, self._slots, self._seed = contents, slots, seed
        self._calls = range(0)
        self._rows = like.new_empty(0)

    def call(self, call: int) -> Tensor:
        """What was drawn for ``call``, in the tensor's shape; not to be written to."""
        if call not in self._calls:
            self._rows = self._rows.new_empty(0)  # before others are drawn: one slice at a time
            slices = self._contents.slices(self._slots)
            self._calls = next(calls for calls in slices if call in calls)
            self._rows = self._rows.new_empty((len(self._calls), self._slots.stride))
            self._contents.write_slice(self._rows, self._slots, self._calls, self._seed)
        return self._slots.elements(self._rows)[call - self._calls.start]


def fence(rows: Tensor, slots: BufferLayout, first: int) -> None:
    """Write gaps and guard bands of buffers from call ``first`` on: (calls, stride), uint8."""
    rows[:, slots.bytes :].fill_(GUARD)
    if not slots.dense:
        for call, byte in enumerate(_GAPS):
            rows[(call - first) % 2 :: 2, : slots.bytes].fill_(byte)


def _set_outputs(rows: Tensor, slots: BufferLayout, first: int) -> None:
    """Fill outputs with :data:`POISON`, or zeros where those are declared; gaps stay as they are.

    As integers of their size.
    """
    bits = slots.bits(rows)
    if slots.tensor.zeroed:
        bits.zero_()
        return
    for call, byte in enumerate(POISON):
        pattern = bytes([byte]) * bits.element_size()
        bits[(call - first) % 2 :: 2].fill_(int.from_bytes(pattern, signed=bits.dtype.is_signed))
