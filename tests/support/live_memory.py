"""Counts the memory that torch's tensors hold, and can run out of it, as a card does."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveMemory(TorchDispatchMode):
    """As a context manager: counts what is allocated within it, views and outside memory not.

    Args:
        room: gives the bytes that there may be at a time, asked at each allocation; None for any.

    Raises:
        torch.OutOfMemoryError: within it, an operation's result does not fit.
    """

    def __init__(self, room: Callable[[], int] | None = None) -> None:
        super().__init__()
        self._room = room
        self._held: dict[int, tuple[StorageWeakRef, int]] = {}
        self.peak = 0
        """The most bytes that were held at a time."""

    @property
    def live(self) -> int:
        """Bytes held now."""
        gone = [key for key, (storage, _) in self._held.items() if storage.expired()]
        for key in gone:
            del self._held[key]
        return sum(size for _, size in self._held.values())

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {_key(x) for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)}
        for made in tree_leaves(result):
            if isinstance(made, torch.Tensor) and _key(made) not in given:
                storage = made.untyped_storage()
                self._held[_key(made)] = (StorageWeakRef(storage), storage.nbytes())
        live = self.live
        self.peak = max(self.peak, live)
        if self._room is not None and live > self._room():
            raise torch.OutOfMemoryError(f"{live} bytes where there is room for {self._room()}")
        return result


def _key(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
