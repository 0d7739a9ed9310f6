"""Sizes that an emulator can run: the constants of a file, or of a test, made smaller alike.

Shapes are a format's contract, and most are far too large for a processor. What a file computes
from its constants stays consistent, since they are changed where they are defined.
"""

import ast
import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import flop_registry

from harness.formats.process.modes import Uncompiled, tensors_in

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
                    each.value = less(each.value, factor, batch=batch)
    return tree


def cut_function(tree: ast.Module, name: str, factor: int) -> ast.Module:
    """The parsed file with the numbers in functions of a name divided; ``tree`` changes."""
    for node in ast.walk(tree) if factor > 1 else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for each in ast.walk(node):
                if isinstance(each, ast.Constant) and type(each.value) is int:
                    each.value = less(each.value, factor)
    return tree


def less(value: int, factor: int, *, batch: bool = False) -> int:
    """A number that may be a size, divided by ``factor``."""
    if batch:
        return min(value, _BATCH)
    return value if value <= _KEPT else max(value // factor, _LEAST)


_SOLVING = ("linalg_", "_linalg_", "cholesky", "geqrf", "ormqr", "triangular_solve", "lu_")
"""Operations on matrices that are not counted as products, and what an element of theirs costs."""
_SOLVED = 10


class TooMuchError(Exception):
    """A call writes more than it may, or makes too many steps."""


class Written(Uncompiled):
    """Counts what operations write and multiply; raises where that is too much.

    It is no :class:`~torch.utils.flop_counter.FlopCounterMode`, whose first use imports a compiler
    for seconds, but counts as that does.
    """

    def __init__(
        self, most: float = MOST_COST * MOST_ELEMENTS, most_steps: float = MOST_STEPS
    ) -> None:
        super().__init__()
        self.elements = self.steps = 0
        self.flops = 0.0
        self._most, self._most_steps = most, most_steps

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        result = func(*args, **(kwargs or {}))
        made = list(tensors_in(result))
        self.elements += sum(each.numel() for each in made)
        self.steps += 1
        if (count := flop_registry.get(func.overloadpacket)) is not None:
            with contextlib.suppress(Exception):  # it is a guess
                self.flops += count(*args, **(kwargs or {}), out_val=result)
        elif func.__name__.startswith(_SOLVING):
            self.flops += sum(
                _SOLVED * each.numel() * each.shape[-1] for each in made if each.dim() > 1
            )
        if self.elements > self._most or self.steps > self._most_steps:
            raise TooMuchError
        return result


class Bounded(TorchFunctionMode):
    """Raises before a function makes more elements than there may be of nothing but numbers."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func in _MAKING:
            with contextlib.suppress(
                TypeError, IndexError, KeyError, ValueError
            ):  # for the function to complain of
                self._most -= math.prod(_shape(func, args, kwargs or {}))
            if self._most < 0:
                raise TooMuchError
        return func(*args, **(kwargs or {}))


class _Shapes(TorchFunctionMode):
    """Makes every new tensor without memory."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func in _MAKING:
            return _unmade(func, args, given)
        if func in (torch.tensor, torch.as_tensor, torch.asarray) or (
            func is torch.Tensor.to and given.get("device") is not None
        ):
            given["device"] = "meta"
        given.pop("generator", None)
        kept = [each for each in args if not names_device(each)]
        return func(*kept, **given)


@contextlib.contextmanager
def shapes_only() -> Iterator[None]:
    """What is made inside has shapes and types, and no values: asking for one raises."""
    with torch.device("meta"), torch.no_grad(), _Shapes():
        yield


_MAKING = frozenset(
    (
        *(torch.rand, torch.randn, torch.randint, torch.randperm, torch.zeros, torch.ones),
        *(torch.empty, torch.full, torch.arange, torch.linspace, torch.logspace, torch.eye),
    )
)


def _unmade(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function that makes a tensor of numbers alone makes, without memory."""
    if func in (torch.eye, torch.linspace, torch.logspace):  # slow to begin with there
        return torch.empty(_shape(func, args, kwargs), dtype=kwargs.get("dtype"), device="meta")
    given = {n: v for n, v in kwargs.items() if n not in ("device", "generator", "out", "names")}
    given.pop("pin_memory", None)
    return func(*args, **given, device="meta")


def _shape(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[int, ...]:
    """The shape of what a function makes of numbers alone; empty where others say it."""
    if func in (torch.linspace, torch.logspace):
        return (int(kwargs["steps"] if "steps" in kwargs else args[2]),)
    if func is torch.arange:
        start, stop, *step = args if len(args) > 1 else (0, args[0])
        return (max(int((stop - start) / (step[0] if step else 1)), 0),)
    if func is torch.eye:
        return (int(args[0]), int(args[1] if len(args) > 1 else kwargs.get("m", args[0])))
    if func is torch.randint:
        args = [each for each in args if isinstance(each, tuple | list)][:1]
    size = kwargs.get("size", args)
    while len(size) and isinstance(size[0], tuple | list):
        size = size[0]
    return tuple(int(each) for each in (size if isinstance(size, tuple | list) else (size,)))


def names_device(value: object) -> bool:
    """Whether an argument says where a tensor is to be."""
    if isinstance(value, torch.device):
        return True
    return isinstance(value, str) and value.split(":")[0] in ("cuda", "cpu")


def cost(call: Callable[[], object]) -> float | None:
    """How often a call, made without memory, is what an emulator can run; None if unknown."""
    with contextlib.suppress(Exception):  # what needs values cannot be tried without
        try:
            with torch.device("meta"), torch.no_grad(), Written() as written:
                call()
        except TooMuchError:
            return math.inf
        return float(max(written.elements / MOST_ELEMENTS, written.flops / MOST_FLOPS))
    return None
