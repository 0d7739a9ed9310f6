"""Modes that see every operation while a reference computes, and how operations compute."""

from collections.abc import Iterator
from contextlib import contextmanager

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
