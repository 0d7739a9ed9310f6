"""What a batch is filled with, kept where no submission can write to it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from harness.device.base import Device
from harness.judge.contents import Contents
from harness.judge.layout import Layout
from harness.problem.sampling.footprint import SLICE

FEW = 4 << 20
"""Bytes of a small case: its copy is first written to the host's memory, and ahead of its turn."""
_FREE_SHARE = 16
"""Beyond a slice, a copy takes no more than this part of the free memory: cases are chosen so that
they leave at least twice as much."""


def has_room(layout: Layout, device: Device) -> bool:
    """Whether a copy of what is laid out so leaves a case the memory that it needs."""
    return layout.size <= SLICE or layout.size * _FREE_SHARE <= device.free_bytes()


class OwnCopy:
    """A copy of all that is written to ``shared`` (bytes, uint8), from ``contents`` laid out so.

    A submission may write to what is shared at any time, but never here.
    """

    kept = True
    """What is filled in is kept where no submission can write to it."""

    def __init__(self, contents: Contents, shared: Tensor, layout: Layout) -> None:
        self._contents = contents
        self._shared = shared
        self._layout = layout
        self.bytes = torch.zeros_like(shared)  # what it held before was ours alone
        self.seed: str | None = None
        """From what ``bytes`` were drawn."""

    def draw(self, seed: str) -> None:
        """Draw here what :meth:`fill` will write; any other seed is forgotten."""
        if self.seed != seed:
            self.seed = None
            with self._written() as data:
                self._contents.write(data, self._layout.slots, seed)
            self.seed = seed

    def fill(self, seed: str, *, once: bool = False) -> None:  # noqa: ARG002 (as of what is noted)
        """Write all buffers and guards."""
        self.draw(seed)
        self.show()

    def fill_for_warm_up(self, seed: str, then: str | None = None) -> None:
        """The same for calls that are not checked: with what they will read ``then``, if known."""
        if then is None or self._layout.calls == 1:
            self._contents.write(self._shared, self._layout.slots, seed, warm_up=True)
        else:
            self.draw(then)
            self.show_others()

    def inputs(self, call: int) -> dict[str, Tensor]:
        """What one call reads, as it was before the call; dense, and not to be written to."""
        layout = self._layout
        return {
            s.tensor.name: layout.elements(self.bytes, s)[call].contiguous() for s in layout.read
        }

    def drawn(self, call: int) -> dict[str, Tensor]:
        """The same, to keep."""
        return {name: x.clone() for name, x in self.inputs(call).items()}

    def reader(self) -> Callable[[int], dict[str, Tensor]]:
        """What tells :meth:`inputs` of one call after the other."""
        return self.inputs

    @contextmanager
    def _written(self) -> Iterator[Tensor]:
        """What is to be written in this block, all of it: few bytes first go to the host's memory.

        On a GPU many small writes take longer than one.
        """
        if self.bytes.numel() > FEW:
            yield self.bytes
            return
        data = torch.zeros(self.bytes.shape, dtype=torch.uint8)
        yield data
        self.bytes.copy_(data)

    def show(self) -> None:
        """Write it to the shared bytes."""
        self._shared.copy_(self.bytes)

    def show_others(self) -> None:
        """Write it there, but to each call what the next one reads, to the last the first's."""
        self.show()
        for slots in self._layout.read:
            shared, own = (slots.bits(self._layout.rows(d, slots)) for d in self._both)
            shared[:-1].copy_(own[1:])
            shared[-1].copy_(own[0])

    def put_back(self) -> None:
        """Write what is only read to the shared bytes again."""
        for slots in self._layout.constant:
            shared, own = (self._layout.rows(d, slots) for d in self._both)
            shared.copy_(own)

    @property
    def _both(self) -> tuple[Tensor, Tensor]:
        return self._shared, self.bytes

    def untouched(self) -> bool:
        """Whether nothing but elements of outputs differs; False if that is not seen at once."""
        if self.bytes.numel() > SLICE or not all(slots.dense for slots in self._layout.outputs):
            return False
        differ = self._shared != self.bytes
        for slots in self._layout.outputs:
            self._layout.rows(differ, slots)[:, : slots.bytes] = False
        return not bool(differ.any())

    def first_change(self) -> int | None:
        """The first byte of what is only read, gaps and guards too, that differs; None if none."""
        for slots in self._layout.constant:  # in the order in which they lie there
            shared, own = (self._layout.rows(d, slots) for d in self._both)
            if (at := first_difference(shared, own)) is not None:
                return slots.base + at
        return None


def first_difference(one: Tensor, other: Tensor) -> int | None:
    """The first byte in which two dense tensors of bytes differ, compared slice by slice."""
    one, other = one.view(-1), other.view(-1)
    for start in range(0, len(one), SLICE):
        changed = one[start : start + SLICE] != other[start : start + SLICE]
        if bool(changed.any()):
            return start + int(changed.to(torch.uint8).argmax())
    return None
