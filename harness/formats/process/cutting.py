"""Sizes that an emulator can run: the constants of a file's top level, made smaller alike.

KernelBench's shapes are its contract, and most are far too large for a processor. What the file
computes from its constants stays consistent, since they are changed where they are defined.
"""

import ast
import contextlib
import math
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

FACTORS = (0, 1, 2, 4, 8, 16, 32, 64, 128)
"""By which numbers are divided, the least that is enough; 0: none, 1: only batches are smaller."""

MOST_ELEMENTS, MOST_FLOPS = 1 << 22, 1 << 29
"""What one call may write, in all of its operations, and compute."""
MOST_STEPS = 5_000
"""Operations of one call."""
MOST_COST = 16.0
"""How much more of either it may be, where nothing less goes."""

_KEPT = 16
"""Numbers up to this stay: channels of an image, sides of a filter, groups, heads."""
_LEAST = 8
_BATCH = 4


def cut(tree: ast.Module, factor: int) -> ast.Module:
    """The parsed file with the numbers of its constants divided by ``factor``; ``tree`` changes."""
    if factor == 0:
        return tree
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id.lower() for each in targets if isinstance(each, ast.Name)]
            batch = any("batch" in name for name in names)
            for each in ast.walk(node.value):
                if isinstance(each, ast.Constant) and type(each.value) is int:
                    each.value = _less(each.value, factor, batch=batch)
    return tree


def _less(value: int, factor: int, *, batch: bool) -> int:
    if batch:
        return min(value, _BATCH)
    return value if value <= _KEPT else max(value // factor, _LEAST)


class _TooMuchError(Exception):
    """A call writes more than it may, or makes too many steps."""


class _Written(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the elements that operations write; raises where that is too much."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.elements = self.steps = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        result = func(*args, **(kwargs or {}))
        made = result if isinstance(result, tuple | list) else (result,)
        self.elements += sum(each.numel() for each in made if isinstance(each, torch.Tensor))
        self.steps += 1
        if self.elements > MOST_COST * MOST_ELEMENTS or self.steps > MOST_STEPS:
            raise _TooMuchError
        return result


def cost(call: Callable[[], object]) -> float | None:
    """How often a call, made without memory, is what an emulator can run; None if unknown."""
    with contextlib.suppress(Exception):  # what needs values cannot be tried without
        counted = FlopCounterMode(display=False)
        try:
            with torch.device("meta"), torch.no_grad(), _Written() as written, counted:
                call()
        except _TooMuchError:
            return math.inf
        flops = float(counted.get_total_flops())
        return float(max(written.elements / MOST_ELEMENTS, flops / MOST_FLOPS))
    return None
