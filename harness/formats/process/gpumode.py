"""GPU MODE's contract: ``generate_input``, ``ref_kernel`` and ``check_implementation``.

``custom_kernel`` gets what ``generate_input`` returns, nested as it is, and may write to all of it,
since it gets copies; what it returns is compared. A buffer in it that nobody has set is where an
output belongs, if there is one of its shape.
"""

import ast
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from harness.formats.messages import ToldParameter
from harness.formats.process.adaptor import (
    NARROW_TYPES,
    MistakeError,
    Tensors,
    UngradableError,
    load_tree,
    reseeded,
    set_memory,
    told,
)
from harness.formats.process.checks import Rule, compared, rule_of, verdict_of
from harness.formats.process.cutting import less
from harness.formats.process.nested import filled, flattened
from harness.formats.process.tested import Tested
from harness.formats.process.trial import Values

_FEW_SEEDS = 1000
"""At least so many, where a task's own seed is small."""
_NEEDED = ("generate_input", "ref_kernel", "check_implementation")
_COMPARISONS = ("verbose_allclose", "verbose_allequal")


class GpuMode(Tested):
    """One task."""

    strided = True

    def __init__(self, path: Path) -> None:
        super().__init__()
        sys.path.insert(0, str(path.parent))
        task = json.loads((path.parent / "task.json").read_bytes())
        self._cases: dict[str, Mapping[str, Any]] = {
            f"{kind}={number + 1}": case
            for kind in ("test", "benchmark")
            for number, case in enumerate(task[f"{kind}s"])
        }
        if (path.parent / "utils.py").is_file():
            _record_comparisons(importlib.import_module("utils"))
        module = load_tree(ast.parse(path.read_bytes()), path, path.stem)
        missing = [name for name in _NEEDED if not callable(getattr(module, name, None))]
        if missing:
            raise UngradableError(f"its reference has no {missing[0]}: it has rules of its own")
        self._module: Any = module
        self._places: dict[str, _Place] | None = None
        self._returned: object = None
        self._told_data: dict[tuple[object, ...], _Data] = {}

    def keys(self) -> Sequence[str]:
        """Tests, then benchmarks."""
        return list(self._cases)

    def alike(self, parameters: Sequence[ToldParameter]) -> Sequence[object]:
        """Names and kinds: no signature says a type."""
        return [(each.name, each.kind) for each in parameters]

    def is_tried(self, key: str) -> bool:
        """Tests are; benchmarks where there are none."""
        return key.startswith("test=") or "test=1" not in self._cases

    def is_timed(self, key: str) -> bool:
        """Benchmarks are."""
        return key.startswith("benchmark=")

    def drawn(self, key: str, seed: int, factor: int) -> dict[str, Any]:
        """The tensors in what ``generate_input`` returns, but those that are outputs."""
        case = {name: _cut(name, value, factor) for name, value in self._cases[key].items()}
        if "seed" in case:
            # Some make values of it, so it is no larger than the task's; reseeded() hides it.
            digest = sha256(f"{seed}|{key}|{case['seed']}".encode()).digest()
            most = max(int(case["seed"]), _FEW_SEEDS)
            case["seed"] = 1 + int.from_bytes(digest[:8], "big") % most
        with reseeded(seed), set_memory():
            made = self._module.generate_input(**case)
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


def _cut(name: str, value: Any, factor: int) -> Any:
    sized = factor > 1 and name != "seed" and type(value) is int
    return less(value, factor) if sized else value


def _is_unset(tensor: Tensor) -> bool:
    """Whether it holds what memory that nobody sets does (:func:`set_memory`)."""
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


def _record_comparisons(utils: ModuleType) -> None:
    """Have the helpers that compare tensors tell of their tolerance."""
    for name in _COMPARISONS:
        if callable(found := getattr(utils, name, None)):
            setattr(utils, name, _telling(found))


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        with compared(bound.arguments.get("rtol", 0.0), bound.arguments.get("atol", 0.0)):
            return function(*args, **kwargs)

    return called
