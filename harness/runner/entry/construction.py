"""Makes an object of a submission's class as a foreign format does: arguments, and a seed."""

import json
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

from harness.wire.arguments import Construct


def made(entry: Callable[..., object], construct: Construct) -> object:
    """The object; everything random in its constructor follows from the seed."""
    arguments = [decoded(each) for each in json.loads(construct.arguments)]
    seed_all(construct.seed)
    return entry(*arguments)


def replace_constants(names: dict[str, Any], constants: str) -> None:
    """Give those of a submission's ``names`` that are as in the problem's file the values of here.

    It has copied them from there: the rows of a state that its module keeps, for one.
    """
    for name, own, here in json.loads(constants or "[]"):
        there = names.get(name)
        if type(there) in (int, float, tuple, list) and there == decoded(own):
            names[name] = decoded(here)


def seed_all(seed: int) -> None:
    """Let everything random follow from ``seed``: a problem's reference is made under it as well.

    Weights of a submission and of the reference are equal for that reason alone.
    """
    import torch

    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def called_with(construct: Construct, values: Mapping[str, object]) -> list[Any]:
    """The arguments of one call, with ``values`` of parameters in their places."""
    return [decoded(each, values) for each in json.loads(construct.call)]


def decoded(value: Any, values: Mapping[str, object] | None = None) -> Any:
    """One argument, from what JSON has of it (:class:`~harness.wire.arguments.Construct`)."""
    if isinstance(value, list):
        return [decoded(each, values) for each in value]
    if not isinstance(value, dict):
        return value
    ((kind, inside),) = value.items()
    if kind == "tuple":
        return tuple(decoded(each, values) for each in inside)
    if kind == "dict":
        return {decoded(key, values): decoded(each, values) for key, each in inside}
    if kind == "argument" and values is not None:
        return values[inside]
    import torch

    return getattr(torch, inside)
