"""Tensara's contract: a class derived from ``Problem`` in ``def.py``.

``solution`` gets the tensors and numbers of ``create_inputs``, the outputs, and what
``get_extra_params`` adds, in the order of ``parameters``. Outputs are 0 before a call, as there.
"""

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from harness.formats.process.adaptor import (
    C_NAMES,
    MistakeError,
    Tensors,
    UngradableError,
    c_name,
    load_tree,
    named,
    reseeded,
)
from harness.formats.process.checks import Rule, rule_of, verdict_of
from harness.formats.process.cutting import cut_function
from harness.formats.process.tested import Tested
from harness.formats.process.trial import Value, Values

_TYPES: Mapping[str, torch.dtype] = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    **{str(each).removeprefix("torch."): each for each in C_NAMES},
    "int": torch.int32,
    "size_t": torch.int64,
    "bool": torch.bool,
    **{f"int{bits}_t": getattr(torch, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": getattr(torch, f"uint{bits}") for bits in (8, 16, 32, 64)},
}
_NUMBERS = frozenset({"float", "double", "bool", "int", "size_t", "unsigned int"})
_NUMBERS |= {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}


class Tensara(Tested):
    """One problem."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        sys.modules["problem"] = _engine()
        self._path = path
        self._made: dict[int, Any] = {}
        made = self._problem(0)
        self._parameters_told = _parameters(made)
        self._tests = len(_tests(made))

    def keys(self) -> Sequence[str]:
        """The sample, and the tests."""
        sample = ("sample=1",) if hasattr(self._problem(0), "generate_sample") else ()
        return (*sample, *(f"test={number + 1}" for number in range(self._tests)))

    def drawn(self, key: str, seed: int, factor: int) -> dict[str, Any]:
        """What a call is given but the outputs."""
        with _salted(seed), reseeded(seed):
            problem, test = self._test(key, factor)
            inputs = test["create_inputs"]()
            inputs = list(inputs) if isinstance(inputs, tuple | list) else [inputs]
            extra = list(problem.get_extra_params(test))
        names = [n for n, each in self._parameters_told.items() if not _is_output(each)]
        values = inputs + extra
        if len(values) != len(names):
            raise MistakeError(f"it gives {len(values)} arguments for {len(names)} parameters")
        found = dict(zip(names, values, strict=True))
        for name, value in found.items():
            if bool(self._parameters_told[name].get("pointer")) != isinstance(value, Tensor):
                kind = type(value).__name__
                raise UngradableError(f"{name} is a {kind}, and its parameter something else")
        self._count = len(inputs)
        return found

    def evaluated(self, key: str, values: Values) -> dict[str, Tensor]:
        """What ``reference_solution`` returns."""
        problem = self._problem(0)
        inputs = [*values.values()][: self._count]
        returned = problem.reference_solution(*inputs)
        several = returned if isinstance(returned, tuple | list) else (returned,)
        names = [n for n, each in self._parameters_told.items() if _is_output(each)]
        if len(several) != len(names):
            raise MistakeError(f"its reference returns {len(several)} of {len(names)} outputs")
        return dict(zip(names, named(several, "output").values(), strict=True))

    def rule(self, key: str, values: Values, right: Tensors) -> Rule | None:
        """What ``verify_result`` stands for."""
        return rule_of(self._verifier(right), right)

    def is_right(self, key: str, values: Values, outputs: Tensors) -> bool:
        """What ``verify_result`` says."""
        return self._verifier(self.evaluated(key, values))(outputs)

    def ctype(self, name: str, value: Value) -> str:
        """As the parameter says, for numbers."""
        if isinstance(value, Tensor):
            return c_name(value.dtype)
        said = str(self._parameters_told[name].get("type"))
        return said if said in _NUMBERS else super().ctype(name, value)

    def order(self, key: str, values: Values, right: Tensors) -> Sequence[str]:
        """As in ``parameters``."""
        return list(self._parameters_told)

    def is_timed(self, key: str) -> bool:
        """All but the sample."""
        return key.startswith("test=")

    def is_zeroed(self, name: str) -> bool:
        """Outputs are."""
        return _is_output(self._parameters_told[name])

    def of_host(self, key: str) -> Tensors:
        """Further parameters that no call moves to a card."""
        problem, test = self._test(key, 0)
        with _Devices() as devices:
            extra = list(problem.get_extra_params(test))
        names = [n for n, each in self._parameters_told.items() if not _is_output(each)]
        further = zip(names[len(names) - len(extra) :], extra, strict=True)
        return {} if devices.cuda else {n: x for n, x in further if isinstance(x, Tensor)}

    def _verifier(self, right: Tensors) -> Callable[[Tensors], bool]:
        problem, expected = self._problem(0), _alone(right)
        return lambda got: verdict_of(problem.verify_result(expected, _alone(got)))

    def _test(self, key: str, factor: int) -> tuple[Any, Mapping[str, Any]]:
        kind, _, number = key.partition("=")
        problem = self._problem(factor if kind == "test" else 0)
        if kind == "test":
            return problem, _tests(problem)[int(number) - 1]
        sample = problem.generate_sample()
        if isinstance(sample, list) and sample:
            sample = sample[0]
        if not isinstance(sample, dict):
            raise MistakeError("generate_sample returns no dictionary")
        return problem, sample

    def _problem(self, factor: int) -> Any:
        if factor not in self._made:
            tree = ast.parse(self._path.read_bytes())
            tree = cut_function(tree, "generate_test_cases", factor)
            module = load_tree(tree, self._path, self._path.stem)
            base = sys.modules["problem"].Problem
            found = [
                each
                for each in vars(module).values()
                if isinstance(each, type) and issubclass(each, base) and each is not base
            ]
            if not found:
                raise MistakeError("the file defines no class derived from Problem")
            self._made[factor] = found[-1]()
        return self._made[factor]


class _Problem:
    """What problems are derived from."""

    is_exact = False
    parameters: ClassVar[Sequence[Mapping[str, Any]]] = ()
    salt: ClassVar[int] = 0

    def __init__(self, name: str = "", *_: object, **__: object) -> None:
        self.name = name

    @staticmethod
    def get_seed(text: str) -> int:
        """A seed of ours, another for each text."""
        digest = sha256(f"{_Problem.salt}|{text}".encode()).digest()
        return int.from_bytes(digest[:4], "big")

    def param_dtype(self, index: int | str) -> torch.dtype:
        """The type of a parameter's elements."""
        found = next(
            each
            for number, each in enumerate(self.parameters)
            if index in (number, each.get("name"))
        )
        return _dtype(found)


def _engine() -> ModuleType:
    module = ModuleType("problem")
    vars(module).update(Problem=_Problem)
    return module


@contextmanager
def _salted(seed: int) -> Any:
    _Problem.salt, before = seed, _Problem.salt
    try:
        yield
    finally:
        _Problem.salt = before


class _Devices(TorchFunctionMode):
    """Notes whether a call names a card."""

    cuda = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named_one = (*args, *(kwargs or {}).values())
        self.cuda |= func is torch.Tensor.cuda or any(
            str(each).startswith("cuda")
            for each in named_one
            if isinstance(each, str | torch.device)
        )
        return func(*args, **(kwargs or {}))


def _parameters(problem: Any) -> dict[str, Mapping[str, Any]]:
    told = problem.parameters
    if not isinstance(told, list | tuple) or not all(isinstance(p, dict) for p in told):
        raise MistakeError("parameters is no list of dictionaries")
    found = {str(each.get("name")): each for each in told}
    if len(found) != len(told) or not any(map(_is_output, told)):
        raise MistakeError("parameters has two of one name, or no output")
    return found


def _is_output(parameter: Mapping[str, Any]) -> bool:
    return bool(parameter.get("pointer")) and not parameter.get("const", False)


def _dtype(parameter: Mapping[str, Any]) -> torch.dtype:
    said = str(parameter.get("type"))
    if said not in _TYPES:
        raise UngradableError(f"{parameter.get('name')} is of type {said}, which is not graded")
    return _TYPES[said]


def _tests(problem: Any) -> Sequence[Mapping[str, Any]]:
    tests = problem.generate_test_cases()
    if not isinstance(tests, list) or not all(isinstance(each, dict) for each in tests):
        raise MistakeError("generate_test_cases returns no list of dictionaries")
    return tests


def _alone(outputs: Tensors) -> Any:
    several = tuple(outputs.values())
    return several[0] if len(several) == 1 else several
