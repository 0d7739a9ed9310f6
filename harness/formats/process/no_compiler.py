"""Keeps torch from importing its compiler, for many seconds, when an operation is first watched.

Functions that the compiler must leave alone ask it for that in their first call. Here nothing is
compiled, so they are given back as they are; whoever wants anything else of it gets the real one.
"""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_NAME = "torch._dynamo"


class _Unloaded(ModuleType):
    """In the place of the compiler until more of it is wanted."""

    def disable(self, function: Callable[..., Any], *_: object, **__: object) -> Any:
        """The function."""
        return function

    def __getattr__(self, name: str) -> Any:
        if name in ("__path__", "__spec__", "__file__") or not name.startswith("__"):
            import torch

            if sys.modules.get(_NAME) is self:
                del sys.modules[_NAME]
                vars(torch).pop("_dynamo", None)
            real = importlib.import_module(_NAME)
            torch._dynamo = real
            return getattr(real, name)
        raise AttributeError(name)


def leave_compiler() -> None:
    """Have it imported no sooner than it is needed."""
    import torch

    if _NAME not in sys.modules:
        sys.modules[_NAME] = torch._dynamo = _Unloaded(_NAME)
