"""Modes that see every operation while a reference computes, and how operations compute."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class Uncompiled(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that need not be kept from torch's compiler, whose import takes 3 s."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()  # type: ignore[no-untyped-call]

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class CutFactors(Uncompiled):
    """While entered, float32 factors of products have TF32's bits where torch lets a card cut them.

    That is its default for convolutions.
    """

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        """Compute one operation."""
        first = _FACTORS.get(func.overloadpacket.__name__)
        if first is not None and _cuts(convolution=func.overloadpacket.__name__ == "convolution"):
            cut = (_cut(each) for each in args[first : first + 2])
            args = (*args[:first], *cut, *args[first + 2 :])
        return func(*args, **(kwargs or {}))


_FACTORS = {"convolution": 0, "mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}
"""Products, and the place of the first factor."""
_TF32_MASK = -1 << 13


def _cuts(*, convolution: bool) -> bool:
    """Whether factors may be cut; as it is by default where torch's settings are of two kinds."""
    try:
        return torch.backends.cudnn.allow_tf32 if convolution else _of_products()
    except RuntimeError:
        return convolution


def _of_products() -> bool:
    return bool(torch.backends.cuda.matmul.allow_tf32)


def _cut(factor: object) -> object:
    if not isinstance(factor, Tensor) or factor.dtype is not torch.float32:
        return factor
    return (factor.contiguous().view(torch.int32) & _TF32_MASK).view(torch.float32)


def tensors_in(result: object) -> Iterator[Tensor]:
    """The tensors that an operation has made: one, or those of a tuple or list."""
    for each in result if isinstance(result, tuple | list) else (result,):
        if isinstance(each, Tensor):
            yield each


@contextmanager
def deterministic() -> Iterator[None]:
    """Operations take the deterministic one of their ways, where they have it.

    As ``torch.use_deterministic_algorithms`` has it, whose first call imports torch's compiler for
    a second, to tell it of that.
    """
    before = torch.are_deterministic_algorithms_enabled()
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(before)
