"""Modes that see every operation while a reference computes."""

from collections.abc import Iterator

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
