"""Tell why outputs were not set: the function returned them, or it only added to them.

Outputs hold :data:`~harness.judge.contents.POISON` before a call, another byte in the next one.
What is still there, or was added to, gives it away: a program that is wrong for another reason is
so in both ways at once only by chance. This makes a message clearer and decides nothing.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from harness.judge.contents import POISON
from harness.judge.layout import BufferLayout
from harness.problem.terms import Direction, Expectation
from harness.session.reported import Returned

_NEAR = 1 / 64
"""Part of the poison that a sum that was added to it may differ from it by."""


_RETURNED: Mapping[Returned, str] = {
    "tensor": "a tensor was returned, which is",
    "tensors": "tensors were returned, which are",
    "number": "a number was returned, which is",
}


def returned_hint(output: str, returned: Returned) -> str:
    """A remark for the message about a wrong ``output`` of a function that ``returned`` in vain."""
    return (
        f" ({_RETURNED[returned]} ignored: write into {output}, as with {output}.copy_(…) or "
        "out=…, or name the function custom_kernel(data), which returns its outputs)"
    )


def unset_hint(
    slots: BufferLayout,
    calls: int,
    call: int,
    known: Callable[[int], tuple[Tensor, Expectation]],
) -> str:
    """A remark for the message about an output that is wrong in ``call`` of ``calls``, or nothing.

    ``known`` gives what the output holds after a call, in its own type, and what was expected.
    """
    tensor = slots.tensor
    if tensor.direction is not Direction.OUT or tensor.zeroed or slots.dtype is torch.bool:
        return ""
    neighbour = call + 1 if call + 1 < calls else call - 1  # has the other byte
    if neighbour < 0:
        return ""
    if not all(_unset(POISON[each % len(POISON)], *known(each)) for each in (call, neighbour)):
        return ""
    return (
        f" (an output holds arbitrary bits before the call: set all of {tensor.name} first, "
        "and only then add to it)"
    )


def _unset(byte: int, got: Tensor, want: Expectation) -> bool:
    """Whether some elements are wrong, and all of these as if they had held ``byte`` before."""
    floating = got.is_floating_point() or got.is_complex()
    got = got.to(want.expected.device)
    wrong, like_poison = (_real if floating else _whole)(byte, got, want)
    return bool(wrong.any()) and bool(like_poison[wrong].all())


def _whole(byte: int, got: Tensor, want: Expectation) -> tuple[Tensor, Tensor]:
    """Which integers are wrong; which still are what they were, or are off by just that."""
    bits = 8 * got.element_size()
    poison = int.from_bytes(bytes([byte]) * got.element_size(), signed=True)
    has, right = got.to(torch.int64), want.expected.to(torch.int64)
    # Modulo 2^bits, as the submission adds: by a shift, which keeps 64 bits in an int64.
    has, right, before = ((x << (64 - bits)) for x in (has, right, torch.full_like(has, poison)))
    return has != right, (has == before) | (has - right == before)


def _real(byte: int, got: Tensor, want: Expectation) -> tuple[Tensor, Tensor]:
    """Which floating-point numbers are wrong; which are NaN, or near the poison."""
    right = ((got - want.expected).abs() <= want.allowed) | (got.isnan() & want.expected.isnan())
    parts = torch.view_as_real(got) if got.is_complex() else got.unsqueeze(-1)
    raw = torch.full((parts.element_size(),), byte, dtype=torch.uint8, device=got.device)
    poison = raw.view(parts.dtype).to(torch.float64)
    if bool(poison.isnan()):
        like_poison = parts.isnan()
    else:
        like_poison = ((parts - poison).abs() <= _NEAR * poison) | parts.isinf()
    return ~right, like_poison.all(-1)
