"""Nested arguments: taken apart into named tensors and JSON of the rest, and put together again.

The JSON is that of :class:`~harness.wire.arguments.Construct`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from harness.formats.process.adaptor import UngradableError

_DEEPEST = 8
_MOST = 1024
_LONGEST = 4096
"""JSON of constants; of a file with more a submission's stay as they are."""


def flattened(value: object, name: str) -> tuple[Any, dict[str, Tensor]]:
    """The structure, and its tensors by name: ``data``, ``data_0``, ``data_2_weight``.

    Raises:
        UngradableError: there is something else in it, or too much.
    """
    leaves: dict[str, Tensor] = {}
    return _taken(value, name, leaves, 0), leaves


def filled(structure: Any, leaves: Mapping[str, Any]) -> Any:
    """The value again, with these tensors."""
    if isinstance(structure, list):
        return [filled(each, leaves) for each in structure]
    if not isinstance(structure, dict):
        return structure
    ((kind, inside),) = structure.items()
    if kind == "argument":
        return leaves[inside]
    if kind == "tuple":
        return tuple(filled(each, leaves) for each in inside)
    if kind == "dict":
        return {filled(key, leaves): filled(each, leaves) for key, each in inside}
    return getattr(torch, inside)


def _taken(value: object, name: str, leaves: dict[str, Tensor], deep: int) -> Any:
    if deep > _DEEPEST or len(leaves) > _MOST:
        raise UngradableError("its arguments are nested too deeply, or are too many")
    if isinstance(value, Tensor):
        unique = name
        while unique in leaves:
            unique += "_"
        leaves[unique] = value
        return {"argument": unique}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, tuple | list):
        inside = [_taken(x, f"{name}_{i}", leaves, deep + 1) for i, x in enumerate(value)]
        return {"tuple": inside} if isinstance(value, tuple) else inside
    if isinstance(value, dict):
        pairs = []
        for key, each in value.items():
            word = re.sub(r"\W+", "_", str(key), flags=re.ASCII)[:40]
            pair = (key, _taken(each, f"{name}_{word}"[:70], leaves, deep + 1))
            if not isinstance(key, str | int):
                raise UngradableError(f"its arguments have a key of {type(key).__name__}")
            pairs.append([*pair])
        return {"dict": pairs}
    raise UngradableError(f"its arguments have a {type(value).__name__}: no tensor or number")


def encoded(value: object) -> object:
    """A constructor's arguments as JSON has them; a tuple is ``{"tuple": […]}``, others alike."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": _all(value)}
    if isinstance(value, list):
        return _all(value)
    if isinstance(value, dict):
        return {"dict": [[encoded(key), encoded(each)] for key, each in value.items()]}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    raise UngradableError(f"its constructor is given a {type(value).__name__}")


def _all(values: Sequence[object]) -> list[object]:
    return [encoded(each) for each in values]


def listed(returned: object) -> list[object]:
    """What was returned, in lists or not, one after the other."""
    if isinstance(returned, tuple | list):
        return [inside for each in returned for inside in listed(each)]
    return [returned]


def changed_constants(own: Mapping[str, object], here: Mapping[str, object]) -> list[list[object]]:
    """The constants of a file that differ: name, value of the file's own and value here."""
    found: list[list[object]] = []
    for name, value in own.items():
        try:
            before, after = encoded(value), encoded(here.get(name))
        except UngradableError:  # no number, nor any of them
            continue
        if before != after and not name.startswith("__"):
            found.append([name, before, after])
    return found if len(json.dumps(found)) <= _LONGEST else []
