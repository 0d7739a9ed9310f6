"""The weights of a submission's module: what it is made with, and other values for a call.

Weights are a module's parameters and buffers. What is told of them decides only which tensors of
the judge's a call finds in their place.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING

from harness.wire.arguments import LONGEST_WEIGHT_NAME, MOST_WEIGHTS, ListedWeight

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def named_weights(module: "Module") -> dict[str, "Tensor"]:
    """Parameters, then buffers, that have elements, by their names; each tensor once."""
    from torch.nn.parameter import is_lazy

    found = chain(module.named_parameters(), module.named_buffers())
    return {name: x for name, x in found if not is_lazy(x) and x.numel()}


def listed_weights(module: "Module") -> tuple[ListedWeight, ...]:
    """All of them by name and digest; none if a message has no room for them."""
    weights = named_weights(module)
    if len(weights) > MOST_WEIGHTS or any(len(name) > LONGEST_WEIGHT_NAME for name in weights):
        return ()
    return tuple(ListedWeight(name=name, digest=digest(x)) for name, x in weights.items())


def digest(weight: "Tensor") -> str:
    """A hash (hex) of data type, shape and the values' bits, wherever they are."""
    import torch

    here = weight.detach().cpu().contiguous()
    found = sha256(f"{here.dtype}|{tuple(here.shape)}|".encode())
    found.update(here.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()[:32]


def called_with_weights(
    module: "Module", weights: Mapping["Tensor", "Tensor"], arguments: Sequence[object]
) -> object:
    """Call the module with these arguments, each of ``weights`` with the value given for it."""
    for weight, value in weights.items():
        weight.data = value
    return module(*arguments)
