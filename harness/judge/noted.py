"""What a batch is filled with, noted as a digest and drawn again where it is asked for."""

from collections.abc import Callable

import torch
from torch import Tensor

from harness.judge.contents import Contents, LastSlice
from harness.judge.digest import Digest
from harness.judge.layout import BufferLayout, Layout
from harness.judge.own_copy import first_difference


class Noted:
    """What is written to ``shared`` (bytes, uint8), from ``contents`` laid out so.

    Takes little memory beside: a ``digest`` of what is only read, gaps and guards too; None where
    nobody will ask whether that has changed.
    """

    kept = False
    """What is filled in lies where a submission may write to it."""

    def __init__(
        self, contents: Contents, shared: Tensor, layout: Layout, digest: Digest | None
    ) -> None:
        self._contents = contents
        self._shared = shared
        self._layout = layout
        self._digest = digest
        self._seed = ""

    def draw(self, seed: str) -> None:
        """Nothing: there is no place for it."""

    def fill(self, seed: str, *, once: bool = False) -> None:
        """Write all buffers and guards, and take the digest.

        With ``once`` what the problem's author draws is drawn for one call and serves all.
        """
        self._contents.write(self._shared, self._layout.slots, seed, once=once)
        self._seed = seed
        if self._digest is not None:
            self._digest.take()

    def fill_for_warm_up(self, seed: str, then: str | None = None) -> None:  # noqa: ARG002 (no copy)
        """Write what calls read that are not checked: drawn on the device, ten times faster."""
        self._contents.write(self._shared, self._layout.slots, seed, warm_up=True)

    def drawn(self, call: int) -> dict[str, Tensor]:
        """What one call reads, as it was before the call; drawn again, dense."""
        return {
            slots.tensor.name: self._again(slots).call(call).contiguous()
            for slots in self._layout.read
        }

    def reader(self) -> Callable[[int], dict[str, Tensor]]:
        """What tells the same of one call after the other; not to be written to.

        What is only read must lie there as it was; what the calls may have overwritten is drawn
        again.
        """
        read, constant = self._layout.read, self._layout.constant
        here = {s.tensor.name: self._layout.elements(self._shared, s) for s in constant}
        again = {slots.tensor.name: self._again(slots) for slots in read if slots not in constant}

        def inputs(call: int) -> dict[str, Tensor]:
            found = {name: tensor[call] for name, tensor in here.items()}
            found |= {name: slices.call(call) for name, slices in again.items()}
            return {name: x.contiguous() for name, x in found.items()}

        return inputs

    def untouched(self) -> bool:
        """Whether nothing but elements of outputs differs: that is not seen at once."""
        return False

    def put_back(self) -> None:
        """Write what is only read to the shared bytes again."""
        for slots in self._layout.constant:
            self._contents.write_buffers(self._shared, slots, self._seed)

    def first_change(self) -> int | None:
        """The first byte of what is only read, gaps and guards too, that differs; None if none.

        Raises:
            ValueError: there is no digest.
        """
        if self._digest is None:
            raise ValueError("a batch that is not to be checked has no digest of its inputs")
        changed = self._digest.first_change()
        if changed is None:
            return None
        slots = next(s for s in self._layout.slots if s.base <= changed < self._layout.end(s))
        rows = self._layout.rows(self._shared, slots)
        for calls in self._contents.slices(slots):
            if calls.stop * slots.stride > changed - slots.base:
                here = rows[calls.start : calls.stop]
                drawn = torch.empty_like(here)
                self._contents.write_slice(drawn, slots, calls, self._seed)
                if (at := first_difference(here, drawn)) is not None:
                    return slots.base + calls.start * slots.stride + at
        return changed

    def _again(self, slots: BufferLayout) -> LastSlice:
        return LastSlice(self._contents, slots, self._shared, self._seed)
