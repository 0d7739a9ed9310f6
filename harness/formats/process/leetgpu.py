"""LeetGPU's contract: tests by a class ``Challenge``, whose reference writes into its outputs.

A test is a dictionary from name to tensor or number, in newer checkouts also to a description of a
tensor (``RandTensor``, …). ``solve`` gets its values in the order of ``get_solve_signature``.
"""

import ast
import ctypes
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from harness.formats.messages import CasesDescribed, ToldCase, ToldParameter
from harness.formats.process.adaptor import (
    Adaptor,
    Exactness,
    MistakeError,
    Tensors,
    UngradableError,
    c_name,
    load_tree,
    reseeded,
    same,
    set_memory,
    told,
    tried_wide,
    widened,
)
from harness.formats.process.cutting import Written
from harness.formats.process.place import PLACE, Moved
from harness.formats.rounding import ROUGHER
from harness.runner.entry.construction import seed_all

Kind = Literal["in", "out", "inout"]
Test = Mapping[str, Any]

MOST_ELEMENTS, MOST_FLOPS = 1 << 20, 1 << 27
"""Of a test that an emulator runs: in all its tensors, and what the reference computes."""

_C_NUMBERS: Mapping[object, str] = {
    ctypes.c_float: "float",
    ctypes.c_double: "double",
    ctypes.c_bool: "bool",
    ctypes.c_int8: "int8_t",
    ctypes.c_uint8: "uint8_t",
    ctypes.c_int16: "int16_t",
    ctypes.c_uint16: "uint16_t",
    ctypes.c_int32: "int",
    ctypes.c_uint32: "unsigned int",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint64: "size_t",
}


class LeetGpu(Adaptor):
    """One challenge."""

    def __init__(self, path: Path) -> None:
        sys.path.insert(0, str(path.parent))
        if not (path.parent / "core" / "challenge_base.py").is_file():
            raise UngradableError("there is no core/challenge_base.py in a folder above it")
        module = load_tree(ast.parse(path.read_bytes()), path, path.stem)
        made = getattr(module, "Challenge", None)
        if not callable(made):
            raise MistakeError("the file defines no Challenge")
        self._challenge: Any = made(device="cuda")
        if getattr(self._challenge, "num_gpus", 1) != 1:
            raise UngradableError(f"needs {self._challenge.num_gpus} GPUs")
        self._signature = _signature(self._challenge.get_solve_signature())
        self._described: dict[bool, CasesDescribed] = {}
        self._last: tuple[int, bool, Sequence[Test]] | None = None
        """Tests, the seed that they are drawn under, and whether they are on the card."""
        self._exactness: dict[int, Exactness] = {}

    def describe(self, *, small: bool) -> CasesDescribed:
        """Its functional tests, each tried."""
        if small not in self._described:
            self._described[small] = self._told(small=small)
        return self._described[small]

    def draw(self, case: str, seed: int, *, small: bool) -> Tensors:
        """The tensors of one test that are read."""
        test = self._tests(seed)[_number(case)]
        return {
            name: test[name].contiguous()
            for name, (_, kind) in self._signature.items()
            if isinstance(test[name], Tensor) and kind != "out"
        }

    def answers(
        self,
        case: str,
        inputs: Tensors,
        weights: int,
        *,
        small: bool,
        own: bool = False,
    ) -> Tensors:
        """What the reference has written."""
        self.describe(small=small)
        number = _number(case)
        test = {**self._tests(1)[number], **inputs}
        return self._right(test, 0, wide=self._exactness[number].wide and not own)

    def check(self, case: str, inputs: Tensors, outputs: Tensors, *, small: bool) -> bool:
        """None: a tolerance decides."""
        raise UngradableError("it has no check of its own")

    def _tests(self, seed: int) -> Sequence[Test]:
        """The tests as they are drawn under a seed, with tensors for what describes some."""
        if self._last is None or self._last[:2] != (seed, PLACE.draws):
            self._last = None
            seed_all(seed)
            with reseeded(seed), set_memory():
                self._last = seed, PLACE.draws, PLACE.drawn(self._made)
        return self._last[2]

    def _made(self) -> Sequence[Test]:
        tests = self._challenge.generate_functional_test()
        if not isinstance(tests, list) or not all(isinstance(t, dict) for t in tests):
            raise MistakeError("generate_functional_test returns no list of dictionaries")
        made = [{name: _made(value) for name, value in test.items()} for test in tests]
        return [
            {n: PLACE.with_inputs(x) if isinstance(x, Tensor) else x for n, x in test.items()}
            for test in made
        ]

    def _told(self, *, small: bool) -> CasesDescribed:
        if small:
            PLACE.draw_there(False)
        else:
            PLACE.draw_there_if(lambda: self._tests(1))
        tests, others = list(self._tests(1)), list(self._tests(2))
        if len(tests) != len(others) or not tests:
            raise MistakeError("generate_functional_test is not the same number of tests each time")
        cases, given, exact = [], False, True
        sizes: list[tuple[int, ToldCase]] = []
        for number, test in enumerate(tests):
            self._require_names(test)
            right, flops = self._tried(number, test)
            exact &= self._exactness[number].wide
            elements = sum(x.numel() for x in test.values() if isinstance(x, Tensor))
            case = self._case(number, test, right)
            sizes.append((elements, case))
            if small and (elements > MOST_ELEMENTS or flops > MOST_FLOPS):
                continue
            cases.append(case)
            given |= same(self._read(test), self._read(others[number]))
        claims = ["shapes: fixed"]
        if not cases:
            raise UngradableError("all of its tests are too large for a machine without a GPU")
        if len(cases) < len(tests):
            claims.append(f"cases: {len(cases)} of {len(tests)} for the CPU")
        if given:
            claims.append("inputs: given in some cases")
        if not exact:
            claims.append("reference: float32")
        if any(each.errors for each in self._exactness.values()):
            claims.append(ROUGHER)
        rtol, atol = (float(getattr(self._challenge, name)) for name in ("rtol", "atol"))
        return CasesDescribed(
            parameters=tuple(self._parameter(name, tests) for name in self._signature),
            cases=tuple(cases),
            rtol=rtol,
            atol=atol,
            claims=tuple(claims),
            on_card=PLACE.draws,
        )

    def _require_names(self, test: Test) -> None:
        if missing := [name for name in self._signature if name not in test]:
            raise MistakeError(f"a test has no {missing[0]}, which the signature names")
        for name, (pointer, _) in self._signature.items():
            if pointer != isinstance(test[name], Tensor):
                kind = type(test[name]).__name__
                raise UngradableError(f"{name} is a {kind}, and the signature has something else")

    def _tried(self, number: int, test: Test) -> tuple[dict[str, Tensor], float]:
        """The outputs of a test, tried in float64 too, and the operations that they took."""
        with Written(math.inf, math.inf) as counter:
            right = self._right(test, 1, wide=False)
        if not same(right, self._right(test, 2, wide=False)):
            raise UngradableError("its reference is not the same each time")
        allowed = float(self._challenge.rtol), float(self._challenge.atol)
        self._exactness[number] = tried_wide(
            lambda: self._right(test, 1, wide=True), right, *allowed
        )
        return right, counter.flops

    def _right(self, test: Test, seed: int, *, wide: bool) -> dict[str, Tensor]:
        def written(moved: Moved) -> Tensors:
            given: dict[str, Any] = {}
            for name in self._signature:
                value = test[name]
                if isinstance(value, Tensor):
                    value = widened(moved(value)) if wide else moved(value).clone()
                given[name] = value
            seed_all(seed)
            with torch.no_grad():
                self._challenge.reference_impl(**given)
            kinds = self._signature.items()
            return {name: given[name] for name, (_, kind) in kinds if kind != "in"}

        return PLACE.compute(written)

    def _read(self, test: Test) -> dict[str, Tensor]:
        kinds = self._signature
        return {n: test[n] for n in kinds if isinstance(test[n], Tensor) and kinds[n][1] != "out"}

    def _case(self, number: int, test: Test, right: Tensors) -> ToldCase:
        for name in right:
            if right[name].shape != test[name].shape:
                raise MistakeError(f"the reference makes {name} {tuple(right[name].shape)}")
        return ToldCase(
            key=f"test={number + 1}",
            tensors=tuple(
                told(
                    name,
                    test[name],
                    zeroed=kind == "out" and not bool(test[name].any()),
                    compared=kind != "in",
                )
                for name, (pointer, kind) in self._signature.items()
                if pointer
            ),
            numbers={n: test[n] for n, (pointer, _) in self._signature.items() if not pointer},
            rounded=self._exactness[number].rounded,
            errors=dict(self._exactness[number].errors),
        )

    def _parameter(self, name: str, tests: Sequence[Test]) -> ToldParameter:
        pointer, kind = self._signature[name]
        if not pointer:
            ctype = self._numbers[name]
            size = ctype not in ("float", "double", "bool")
            return ToldParameter(name=name, ctype=ctype, kind="size" if size else "scalar")
        dtypes = {test[name].dtype for test in tests}
        if len(dtypes) > 1:
            raise UngradableError(f"the type of {name} is another in some tests")
        return ToldParameter(name=name, ctype=c_name(dtypes.pop()), kind=kind)

    @property
    def _numbers(self) -> dict[str, str]:
        signature = self._challenge.get_solve_signature()
        return {name: _C_NUMBERS.get(each[0], "?") for name, each in signature.items()}


def _signature(given: object) -> dict[str, tuple[bool, Kind]]:
    """Of each parameter, whether it is a pointer, and which way it goes."""
    if not isinstance(given, dict) or not given:
        raise MistakeError("get_solve_signature must return a dictionary")
    found: dict[str, tuple[bool, Kind]] = {}
    for name, each in given.items():
        ctype, direction = each
        if direction not in ("in", "out", "inout"):
            raise MistakeError(f"the direction of {name} is {direction!r}")
        found[name] = (ctype not in _C_NUMBERS, direction)
    return found


def _number(case: str) -> int:
    return int(case.removeprefix("test=")) - 1


def _made(value: object) -> object:
    """A tensor for what describes one in newer checkouts; else the value itself."""
    kind, about = type(value).__name__, getattr(value, "__dict__", {})
    if type(value).__module__ != "core.challenge_base" or "shape" not in about:
        return value
    dtype = getattr(torch, str(about["dtype"]).removeprefix("torch."))
    shape = tuple(about["shape"])
    match kind:
        case "RandTensor":
            low, high = about["low"], about["high"]
            return (torch.rand(shape) * (high - low) + low).to(dtype)
        case "RandnTensor":
            return (torch.randn(shape) * about["std"] + about["mean"]).to(dtype)
        case "RandIntTensor":
            return torch.randint(about["low"], about["high"], shape).to(dtype)
        case "FullTensor":
            return torch.full(shape, about["value"], dtype=dtype)
        case "OutTensor":
            filled = math.nan if dtype.is_floating_point else 1
            return torch.full(shape, filled, dtype=dtype)
    raise UngradableError(f"a test has a {kind}, which is not known here")
