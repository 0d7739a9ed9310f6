"""A definition and its workloads: ``run`` gets the inputs in order and returns the outputs.

Inputs are drawn as their workload says: random, a number, tensors of a file, or by a function of
the reference's file. Answers have the definition's types.
"""

import ast
import json
import math
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
    load_tree,
    named,
    reseeded,
)
from harness.formats.process.checks import Rule
from harness.formats.process.cutting import less
from harness.formats.process.tested import Tested
from harness.formats.process.trial import Value, Values

_TOLERANCE = 1e-2
"""Of the format, relative and absolute alike."""
_NARROW_MOST = 2.0
"""Random numbers of one byte or less are cut there, as by the format's own generator."""
_CONSTANTS = 1000
"""Added to a factor that divides constant axes as well."""
_RANGES: Mapping[torch.dtype, tuple[int, int]] = {
    torch.bool: (0, 2),
    torch.int8: (-128, 128),
    torch.uint8: (0, 256),
}
_WHOLE = (-1000, 1000)


class FlashInfer(Tested):
    """One definition."""

    most_elements, most_flops = 1 << 22, 1 << 27
    factors = (0, 4, 16, 64, 256, *(_CONSTANTS + each for each in (16, 64)))

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._folder = path.parent
        self._definition = json.loads((path.parent / "definition.json").read_bytes())
        told = json.loads((path.parent / "workloads.json").read_bytes())
        self._workloads: Sequence[Mapping[str, Any]] = told["workloads"]
        self._total: int = told["total"]
        self._ratio: float = told["ratio"]
        self._module: Any = load_tree(ast.parse(path.read_bytes()), path, path.stem)
        if not callable(getattr(self._module, "run", None)):
            raise MistakeError("the reference defines no run")
        self._inputs: Mapping[str, Any] = self._definition["inputs"]
        self._outputs: Mapping[str, Any] = self._definition["outputs"]
        for name, each in self._outputs.items():
            if each.get("shape") is None:
                raise UngradableError(f"its output {name} is a number, which is not graded")

    def keys(self) -> Sequence[str]:
        """All workloads."""
        return [f"workload={number + 1}" for number in range(len(self._workloads))]

    def is_timed(self, key: str) -> bool:
        """All are."""
        return True

    def drawn(self, key: str, seed: int, factor: int) -> dict[str, Any]:
        """All inputs, in the definition's order."""
        workload = self._workload(key)
        axes = self._axes(workload, factor)
        numbers = {
            name: each["value"]
            for name, each in workload["inputs"].items()
            if each.get("type") == "scalar"
        }
        with reseeded(seed):
            made = self._made(workload, {**axes, **numbers})
            told = workload["inputs"]
            return {n: self._input(n, told.get(n), axes, made) for n in self._inputs}

    def evaluated(self, key: str, values: Values) -> dict[str, Tensor]:
        """What the reference's ``run`` returns, in the types of the definition."""
        returned = self._module.run(**values)
        names = list(self._outputs)
        if isinstance(returned, dict):
            if set(returned) != set(names):
                raise MistakeError("the reference returns other outputs than the definition has")
            returned = [returned[name] for name in names]
        several = returned if isinstance(returned, tuple | list) else (returned,)
        if len(several) != len(names):
            raise MistakeError(f"the reference returns {len(several)} of {len(names)} outputs")
        found = dict(zip(names, named(several, "output").values(), strict=True))
        if any(x.dtype is torch.float64 for x in values.values() if isinstance(x, Tensor)):
            return found
        return {name: x.to(_dtype(name, self._outputs[name])) for name, x in found.items()}

    def rule(self, key: str, values: Values, right: Tensors) -> Rule | None:
        """The workload's, or the format's; None where only a part of the elements must be right."""
        rtol, atol, ratio, cap = self._tolerance(key)
        return Rule(rtol=rtol, atol=atol) if ratio >= 1 and cap == math.inf else None

    def is_right(self, key: str, values: Values, outputs: Tensors) -> bool:
        """Whether enough elements are right, and none is off by more than the cap."""
        rtol, atol, ratio, cap = self._tolerance(key)
        for name, right in self.evaluated(key, values).items():
            got, expected = outputs[name].double(), right.double()
            same = (got == expected) | (got.isnan() & expected.isnan())
            off = torch.where(same, 0.0, (got - expected).abs()).nan_to_num(nan=math.inf)
            near = same | (off <= atol + rtol * expected.abs())
            bounded = not off.numel() or float(off.max()) <= cap
            if not bounded or int(near.sum()) < ratio * near.numel():
                return False
        return True

    def ctype(self, name: str, value: Value) -> str:
        """That of a number's data type."""
        if isinstance(value, float):
            return "double"
        return super().ctype(name, value)

    def _claims(self, shown: Sequence[Any], count: int, *, small: bool) -> list[str]:
        claims = super()._claims(shown, count, small=small)
        for number, each in enumerate(claims):
            if each.startswith("sizes:"):
                most = max(trial.factor for trial in shown)
                which = "all axes" if most > _CONSTANTS else "variable axes"
                claims[number] = f"sizes: {which} divided by up to {most % _CONSTANTS} for the CPU"
        if len(self._workloads) < self._total:
            claims.append(f"cases: {len(self._workloads)} of {self._total} in the checkout")
        return claims

    def _workload(self, key: str) -> Mapping[str, Any]:
        return self._workloads[int(key.partition("=")[2]) - 1]

    def _tolerance(self, key: str) -> tuple[float, float, float, float]:
        """Relative, absolute, the part that must be right, and the most that one may be off."""
        told = self._workload(key).get("tolerance") or {}
        cap = told.get("max_error_cap")
        return (
            float(told.get("max_rtol", _TOLERANCE)),
            float(told.get("max_atol", _TOLERANCE)),
            float(told.get("required_matched_ratio", self._ratio)),
            math.inf if cap is None else float(cap),
        )

    def _axes(self, workload: Mapping[str, Any], factor: int) -> dict[str, int]:
        """All axes by name; where sizes are cut, the variable ones first."""
        by, constants = factor % _CONSTANTS, factor >= _CONSTANTS
        found: dict[str, int] = {}
        later: dict[str, str] = {}
        for name, axis in self._definition["axes"].items():
            if axis.get("type") == "expr":
                later[name] = str(axis["expression"])
            elif axis.get("type") == "const":
                value = int(axis["value"])
                found[name] = less(value, by) if constants and by else value
            else:
                if name not in workload["axes"]:
                    raise MistakeError(f"a workload has no axis {name}")
                value = int(workload["axes"][name])
                found[name] = less(value, by) if by else value
        for name, expression in later.items():  # by this process, which is the author's own
            found[name] = int(eval(expression, {"__builtins__": {}}, found))  # noqa: S307
        return found

    def _made(self, workload: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the reference's own function draws, where a workload asks for it."""
        if not any(each.get("type") == "custom" for each in workload["inputs"].values()):
            return {}
        name = self._definition.get("custom_inputs_entrypoint")
        function = getattr(self._module, str(name), None)
        if not callable(function):
            raise MistakeError(f"the reference defines no {name}, which draws inputs")
        made = function(dict(known), torch.device("cuda"))
        if not isinstance(made, dict):
            raise MistakeError(f"{name} returns no dictionary")
        return made

    def _input(self, name: str, told: Any, axes: Mapping[str, int], made: Mapping[str, Any]) -> Any:
        kind = told.get("type") if isinstance(told, dict) else "random"
        spec = self._inputs[name]
        shape = None if spec.get("shape") is None else [axes[each] for each in spec["shape"]]
        if kind == "scalar":
            return told["value"]
        if kind == "custom":
            value = made.get(name)
        elif kind == "safetensors":
            value = _stored(self._folder / told["file"], str(told.get("tensor_key")))
        elif kind == "random":
            return _random(name, spec, shape)
        else:
            raise UngradableError(f"{name} is to be {kind}, which is not known here")
        if not isinstance(value, Tensor) or shape is None or list(value.shape) != shape:
            said = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise MistakeError(f"{name} is {said}, and its axes say {shape}")
        return value.to(_dtype(name, spec))


def _dtype(name: str, spec: Mapping[str, Any]) -> torch.dtype:
    found = getattr(torch, str(spec.get("dtype")), None)
    if not isinstance(found, torch.dtype):
        raise UngradableError(f"{name} is of type {spec.get('dtype')}, which is not graded")
    return found


def _random(name: str, spec: Mapping[str, Any], shape: Sequence[int] | None) -> Any:
    dtype = _dtype(name, spec)
    if dtype.is_floating_point:
        made = torch.randn(shape or [], dtype=torch.float32)
        if dtype in NARROW_TYPES:
            made = made.clamp_(-_NARROW_MOST, _NARROW_MOST)
        if str(dtype).endswith("_x2"):  # two in a byte: torch makes none of other numbers
            raise UngradableError(f"{name} is to be random in {dtype}, which it cannot be")
        made = made.to(dtype)
        return float(made) if shape is None else made
    low, high = _RANGES.get(dtype, _WHOLE)
    whole = torch.randint(low, high, tuple(shape or ()), dtype=torch.int64).to(dtype)
    return whole.item() if shape is None else whole


_STORED: Mapping[str, str] = {
    **{"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"},
    **{"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu"},
    **{
        f"{sign}{bits}": f"{name}{bits}"
        for sign, name in (("I", "int"), ("U", "uint"))
        for bits in (8, 16, 32, 64)
    },
}


def _stored(path: Path, key: str) -> Tensor:
    """A tensor of a file: eight bytes say how long the JSON is that says where all are."""
    text = path.read_bytes()
    length = int.from_bytes(text[:8], "little")
    header = json.loads(text[8 : 8 + length])
    if key not in header:
        raise MistakeError(f"there is no {key} among its stored tensors")
    about = header[key]
    start, stop = (8 + length + int(each) for each in about["data_offsets"])
    if about["dtype"] not in _STORED:
        raise UngradableError(f"{key} is stored as {about['dtype']}, which is not graded")
    dtype = getattr(torch, _STORED[about["dtype"]])
    flat = torch.frombuffer(bytearray(text[start:stop]), dtype=dtype)
    return flat.reshape([int(each) for each in about["shape"]])
