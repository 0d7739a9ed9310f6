"""What a reference's module holds, what decides the values of that, and others in their place.

Weights are parameters and buffers, as ``self.`` and their names in the module.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from harness.formats.messages import ToldWeight, WeightKind
from harness.formats.process.adaptor import C_NAMES, Tensors, same
from harness.runner.entry.weights import named_weights
from harness.wire.arguments import LONGEST_WEIGHT_NAME, MOST_WEIGHTS

_SELF = "self."


def held(module: nn.Module) -> dict[str, Tensor]:
    """The weights, by name; not copied."""
    return {f"{_SELF}{name}": x.detach() for name, x in named_weights(module).items()}


def without_weights(values: Tensors) -> dict[str, Tensor]:
    """Those of ``values`` that are arguments."""
    return {name: x for name, x in values.items() if not name.startswith(_SELF)}


def hold(module: nn.Module, values: Tensors) -> None:
    """Give those weights that are among ``values`` these."""
    for name, weight in held(module).items():
        if name in values:
            weight.copy_(values[name])


def told_weights(
    made: Tensors, under_another: Tensors, called: nn.Module
) -> tuple[ToldWeight, ...]:
    """What the judge is told of the weights of a module, to be able to give calls others.

    ``made`` has them as they are made, ``under_another`` seed in a second module; ``called`` is one
    like the first that was called. None are told of recurrent layers of torch's, which want theirs
    in one piece, of what cannot lie in a buffer, and of more than a message has room for.
    """
    if any(isinstance(each, nn.RNNBase) for each in called.modules()):
        return ()
    if len(made) > MOST_WEIGHTS or made.keys() != under_another.keys():
        return ()
    used, parameters = held(called), {f"{_SELF}{name}" for name, _ in called.named_parameters()}
    found = []
    for name, weight in made.items():
        other, after = under_another[name], used.get(name)
        plain = weight.dtype in C_NAMES and weight.layout is torch.strided
        if not plain or after is None or len(name) > LONGEST_WEIGHT_NAME:
            return ()
        if weight.shape != other.shape or weight.dtype != other.dtype:
            return ()
        kind = _kind(weight, other, after, is_parameter=name in parameters)
        dtype = str(weight.dtype).removeprefix("torch.")
        found.append(ToldWeight(name=name, dtype=dtype, shape=tuple(weight.shape), kind=kind))
    return tuple(found)


def _kind(weight: Tensor, other: Tensor, after: Tensor, *, is_parameter: bool) -> WeightKind:
    if not _equal(weight, after):
        return "changed"
    if not _equal(weight, other):
        return "drawn"
    return "initial" if is_parameter else "buffer"


def _equal(one: Tensor, other: Tensor) -> bool:
    pair: tuple[Mapping[str, Tensor], ...] = ({"": one}, {"": other})
    return same(*pair)
