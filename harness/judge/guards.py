"""What was written around outputs: to gaps of their buffers, guard bands, and between tensors."""

import torch
from torch import Tensor

from harness.judge.contents import GUARD, Contents, fence
from harness.judge.layout import BufferLayout, Layout
from harness.judge.own_copy import first_difference


def first_stray(data: Tensor, layout: Layout, contents: Contents) -> int | None:
    """The first byte of ``data`` around an output, or between tensors, that is not as it was.

    ``contents`` were written to all of it (uint8), which is laid out so; None if there is no such
    byte.
    """
    if _guarded(data, layout):
        return None
    places = [_stray_between(data, start, stop) for start, stop in layout.between]
    places += [_stray_around(data, layout, slots, contents) for slots in layout.outputs]
    return min((place for place in places if place is not None), default=None)


def _guarded(data: Tensor, layout: Layout) -> bool:
    """Whether all is as it was, seen at once: few outputs have gaps, of which this says no."""
    if not all(slots.dense for slots in layout.outputs):
        return False
    guards = [data[start:stop] for start, stop in layout.between]
    for slots in layout.outputs:
        guards.append(layout.rows(data, slots)[:, slots.bytes :].flatten())
    return bool((torch.cat(guards) == GUARD).all())


def _stray_between(data: Tensor, start: int, stop: int) -> int | None:
    changed = (data[start:stop] != GUARD).nonzero()
    return start + int(changed[0]) if len(changed) else None


def _stray_around(
    data: Tensor, layout: Layout, slots: BufferLayout, contents: Contents
) -> int | None:
    """The place of the first write to a gap of an output's buffers, or to a guard band."""
    rows = layout.rows(data, slots)
    if slots.dense:
        changed = (rows[:, slots.bytes :] != GUARD).nonzero()
        if not len(changed):
            return None
        call, beyond = changed[0].tolist()
        return slots.base + int(call) * slots.stride + slots.bytes + int(beyond)
    for calls in contents.slices(slots):
        here = rows[calls.start : calls.stop]
        right = torch.empty_like(here)
        fence(right, slots, calls.start)
        slots.bits(right).copy_(slots.bits(here))
        if (at := first_difference(here, right)) is not None:
            return slots.base + calls.start * slots.stride + at
    return None
