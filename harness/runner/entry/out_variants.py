"""Finds how an operation of PyTorch that makes a tensor can write to a given one instead."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from harness.runner.entry.torch_private import schema

Arguments = Sequence[Any]
Keywords = Mapping[str, Any]
Write = Callable[[Tensor, Arguments, Keywords], object]
"""Writes the result of an operation with these arguments to a tensor of its shape and type."""


@functools.cache
def makes_memory(func: object) -> bool:
    """Whether some of what the operation returns is not an argument of it, nor a view of one."""
    declared = schema(func)
    return declared is not None and any(each.alias_info is None for each in declared.returns)


@functools.cache
def writer(func: OpOverload) -> Write | None:
    """The function by which the operation writes to a given tensor; None if it cannot."""
    if func.namespace != "aten" or torch.Tag.dynamic_output_shape in func.tags:
        return None
    return _BY_NAME.get(func.overloadpacket.__name__) or _out_variant(func)


def _copy(place: Tensor, args: Arguments, kwargs: Keywords) -> None:
    place.copy_(args[0], non_blocking=kwargs.get("non_blocking", False))


def _relu(place: Tensor, args: Arguments, _: object) -> None:
    torch.clamp_min(args[0], 0, out=place)  # PyTorch's own does the same


_EMPTY = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
_BY_NAME: dict[str, Write] = {
    **dict.fromkeys(_EMPTY, lambda *_: None),  # any values will do
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros"), lambda place, *_: place.fill_(0)),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), lambda place, *_: place.fill_(1)),
    **dict.fromkeys(
        ("full", "full_like", "new_full"), lambda place, args, _: place.fill_(args[-1])
    ),
    **{"clone": _copy, "_to_copy": _copy, "relu": _relu},
}


def _out_variant(func: OpOverload) -> Write | None:
    """Write by the overload that takes one output, if PyTorch has written one.

    Those that it has generated make a tensor and copy it.
    """
    packet = func.overloadpacket
    for overload in (getattr(packet, name) for name in packet.overloads()):
        outs = [each.name for each in schema(overload).arguments if each.is_out]
        if (
            len(outs) == 1
            and torch.Tag.generated not in overload.tags
            and _inputs(overload) == _inputs(func)
        ):
            return lambda place, args, kwargs: overload(*args, **kwargs, **{outs[0]: place})
    return None


def _inputs(overload: OpOverload) -> list[tuple[str, str]]:
    """Names and types of the arguments that are read."""
    return [(a.name, str(a.type)) for a in schema(overload).arguments if not a.is_out]
