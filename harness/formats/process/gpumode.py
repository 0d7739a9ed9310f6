"""GPU MODE's contract: ``generate_input``, ``ref_kernel`` and ``check_implementation``.

``custom_kernel`` gets what ``generate_input`` returns, nested as it is, and may write to all of it,
since it gets copies; what it returns is compared. A buffer in it that nobody has set is where an
output belongs, if there is one of its shape.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from harness.formats.process.adaptor import (
    NARROW_TYPES,
    MistakeError,
    Tensors,
    UngradableError,
    told,
)
from harness.formats.process.checks import Rule, rule_of, verdict_of
from harness.formats.process.nested import filled, flattened
from harness.formats.process.task import Task
from harness.formats.process.trial import Values


class GpuMode(Task):
    """One task."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.needs("generate_input", "ref_kernel", "check_implementation")
        self._places: dict[str, _Place] | None = None
        self._returned: object = None
        self._told_data: dict[tuple[object, ...], _Data] = {}

    def drawn(self, key: str, seed: int, factor: int) -> dict[str, Any]:
        """The tensors in what ``generate_input`` returns, but those that are outputs."""
        made = self.made("generate_input", key, seed, factor)
        structure, leaves = flattened(made, "data")
        if not leaves:
            raise UngradableError("its input has no tensor")
        for name, leaf in leaves.items():
            told(name, leaf)  # says which type is not graded
        if self._places is None:
            self._places = self._find_places(structure, leaves)
        values = {name: x for name, x in leaves.items() if name not in self._places}
        shapes = {name: (x.shape, x.dtype) for name, x in leaves.items()}
        self._told_data[_key(values)] = _Data(structure, shapes)
        return values

    def evaluated(self, key: str, values: Values) -> dict[str, Tensor]:
        """What ``ref_kernel`` returns, in the types of the buffers that it is meant for."""
        assert self._places is not None
        data = self._data(values)
        own = all(data.shapes[name][1] == x.dtype for name, x in _tensors(values).items())
        outputs = self._called(data.structure, {**_tensors(values), **self._buffers(data, own=own)})
        if not own:
            return outputs
        types = {place.output: data.shapes[name][1] for name, place in self._places.items()}
        return {name: x.to(types.get(name, x.dtype)) for name, x in outputs.items()}

    def rule(self, key: str, values: Values, right: Tensors) -> Rule | None:
        """What ``check_implementation`` stands for."""
        return rule_of(lambda got: self.is_right(key, values, got), right)

    def is_right(self, key: str, values: Values, outputs: Tensors) -> bool:
        """What ``check_implementation`` says."""
        data = self._data(values)
        copies = {name: x.clone() for name, x in _tensors(values).items()}
        made = filled(data.structure, {**copies, **self._buffers(data, own=True)})
        returned = filled(self._returned, outputs)
        return verdict_of(self._module.check_implementation(made, returned))

    def loose(self, key: str) -> Sequence[str]:
        """All that is given: it is the submission's own."""
        return [*next(iter(self._told_data.values())).names(self._places or {})]

    def is_zeroed(self, name: str) -> bool:
        """Outputs are if the buffer that they are written to is."""
        return any(each.output == name and each.zeroed for each in (self._places or {}).values())

    def details(self, key: str, values: Values) -> dict[str, Any]:
        """How the arguments are nested."""
        places = {name: each.output for name, each in (self._places or {}).items()}
        return {"call": json.dumps([_renamed(self._data(values).structure, places)])}

    def _data(self, values: Values) -> "_Data":
        return self._told_data[_key(values)]

    def _buffers(self, data: "_Data", *, own: bool) -> dict[str, Tensor]:
        """The buffers for outputs, as they are made, or in float64."""
        made = {}
        for name, place in (self._places or {}).items():
            shape, dtype = data.shapes[name]
            kind = torch.float64 if dtype.is_floating_point and not own else dtype
            made[name] = torch.zeros(shape, dtype=kind)
            if not place.zeroed and kind.is_floating_point:
                made[name].fill_(torch.nan)
        return made

    def _called(self, structure: object, leaves: Tensors) -> dict[str, Tensor]:
        returned = self._module.ref_kernel(filled(structure, leaves))
        self._returned, outputs = flattened(returned, "output")
        if not outputs:
            raise MistakeError("ref_kernel returns no tensor")
        return {name: x.detach() for name, x in outputs.items()}

    def _find_places(self, structure: object, leaves: Tensors) -> dict[str, "_Place"]:
        """Which buffers are outputs: by what is returned, and by what nobody has set."""
        copies = {name: x.clone() for name, x in leaves.items()}
        outputs = self._called(structure, copies)
        found: dict[str, _Place] = {}
        for output, tensor in outputs.items():
            for name, leaf in leaves.items():
                unset, zero = _is_unset(leaf), _is_zero(leaf)
                itself = tensor.data_ptr() == copies[name].data_ptr()
                fits = leaf.shape == tensor.shape and leaf.is_contiguous()
                if fits and name not in found and (unset or (zero and itself)):
                    found[name] = _Place(output, zeroed=zero)
                    break
        if len(found) == len(leaves):
            raise UngradableError("nobody sets its input")
        return found


class _Place:
    """Where an output belongs."""

    def __init__(self, output: str, *, zeroed: bool) -> None:
        self.output, self.zeroed = output, zeroed


class _Data:
    """What ``generate_input`` returned, without values."""

    def __init__(
        self, structure: object, shapes: Mapping[str, tuple[torch.Size, torch.dtype]]
    ) -> None:
        self.structure, self.shapes = structure, shapes

    def names(self, places: Mapping[str, _Place]) -> list[str]:
        """The tensors that are no outputs."""
        return [name for name in self.shapes if name not in places]


def _key(values: Values) -> tuple[object, ...]:
    return tuple((name, tuple(x.shape)) for name, x in _tensors(values).items())


def _tensors(values: Values) -> dict[str, Tensor]:
    return {name: x for name, x in values.items() if isinstance(x, Tensor)}


def _is_unset(tensor: Tensor) -> bool:
    """Whether it holds what memory that nobody sets does (:func:`~.adaptor.set_memory`)."""
    if not tensor.numel() or tensor.dtype in NARROW_TYPES:
        return False
    if tensor.is_floating_point() or tensor.is_complex():
        return bool(tensor.isnan().all())
    if tensor.dtype is torch.bool:
        return False
    return tensor.numel() > 1 and bool((tensor == torch.iinfo(tensor.dtype).max).all())


def _is_zero(tensor: Tensor) -> bool:
    return tensor.dtype not in NARROW_TYPES and not bool(tensor.any())


def _renamed(structure: Any, names: Mapping[str, str]) -> Any:
    """The structure with the names of outputs for those of their buffers."""
    if isinstance(structure, dict) and "argument" in structure:
        return {"argument": names.get(structure["argument"], structure["argument"])}
    if isinstance(structure, dict):
        return {key: _renamed(inside, names) for key, inside in structure.items()}
    if isinstance(structure, list):
        return [_renamed(each, names) for each in structure]
    return structure
