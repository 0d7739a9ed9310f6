"""What ``draw`` of an author's file returned: the tensors of a call, or what is wrong with them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.author.messages import Kind

if TYPE_CHECKING:
    from torch import Tensor


class Mistake(Exception):
    """What the function returned is not what it must return."""


def returned_tensors(
    returned: object, wanted: Mapping[str, tuple[Kind, tuple[int, ...]]], device: str = "cpu"
) -> "dict[str, Tensor]":
    """The tensors by name as they were returned, on a ``device`` of this type.

    ``wanted`` has the kind and shape of each.

    Raises:
        Mistake: they cannot be what is wanted.
    """
    names = ", ".join(wanted)
    if not isinstance(returned, Mapping):
        raise Mistake(f"must return a mapping from name to tensor for {names}, not {_a(returned)}")
    if set(returned) != set(wanted):
        others = ", ".join(map(str, returned)) or "none"
        raise Mistake(f"must return a tensor for each of {names}; there are {others}")
    return {
        name: _tensor(name, returned[name], kind, shape, device)
        for name, (kind, shape) in wanted.items()
    }


def _tensor(
    name: str, returned: object, kind: Kind, shape: tuple[int, ...], device: str
) -> "Tensor":
    import torch  # not before the author's process is told to

    if not isinstance(returned, torch.Tensor):
        raise Mistake(f"{name}: {_a(returned)} is no tensor")
    if returned.layout is not torch.strided or returned.device.type != device:
        raise Mistake(f"{name} must be a dense tensor on the {'CPU' if device == 'cpu' else 'GPU'}")
    if tuple(returned.shape) != shape:
        raise Mistake(f"{name} has shape {tuple(returned.shape)}, not {shape}")
    if returned.is_complex() and kind != "complex":
        raise Mistake(f"{name} is complex, and the parameter is not")
    if kind == "integer" and returned.is_floating_point():
        raise Mistake(f"{name} holds {returned.dtype} numbers, and the parameter integers")
    return returned


def _a(value: object) -> str:
    return f"a {type(value).__name__}"
