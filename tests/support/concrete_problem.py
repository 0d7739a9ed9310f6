"""A problem made of concrete tensors that a function draws, with a tolerance of its own.

It declares no shapes: it meets harness.problem.gradable as a reader of a foreign format would.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from harness.errors import UsageError
from harness.problem.case import Case, CaseLimits
from harness.problem.terms import (
    CallCost,
    Direction,
    Expectation,
    FormalParameter,
    Limits,
    Role,
    TensorSpec,
)

Draw = Callable[[int, torch.Generator], Mapping[str, Tensor]]
"""Somebody's code: all inputs of a test by number, from a generator."""

Solve = Callable[..., Mapping[str, Tensor]]
"""Somebody's code: the outputs, by name, of inputs and scalars in float64."""


@dataclass(frozen=True)
class Formal:
    """One parameter of the entry point."""

    name: str
    type: str
    role: Role
    direction: Direction | None = None


@dataclass(frozen=True)
class DrawnInputs:
    """Inputs as the author's function draws them, all of a call together."""

    author: Draw

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        bits = int.from_bytes(sha256(f"{seed}|{case.spec}".encode()).digest()[:8], "big") >> 1
        return self.author(_number(case), torch.Generator().manual_seed(bits))[tensor.name]

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        out.copy_(self.draw(tensor, case, seed))

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        for number, call in enumerate(out):
            call.copy_(self.draw(tensor, case, f"{seed}/{number}"))


@dataclass(frozen=True)
class CloseAnswers:
    """The author's function in float64; right within atol + rtol · |expected|."""

    author: Solve
    rtol: float
    atol: float
    capturable: bool = False

    def expectations(
        self, case: Case, dtype: str, inputs: Mapping[str, Tensor], *, summed: bool = True
    ) -> dict[str, Expectation]:
        wide = {name: tensor.to(torch.float64) for name, tensor in inputs.items()}
        return {
            name: Expectation(expected=e, allowed=self.atol + self.rtol * e.abs())
            for name, e in self.author(**wide, **case.scalars).items()
        }


@dataclass(frozen=True, kw_only=True)
class ConcreteProblem:
    """Tests by number: ``test=1`` … ``test=N``."""

    parameters: tuple[FormalParameter, ...]
    draw: Draw
    solve: Solve
    tests: int
    scalars: Mapping[str, float]
    rtol: float = 1e-4
    atol: float = 1e-6
    slug: str = "concrete"
    title: str = "Concrete"
    hash: str = "0" * 64
    dtypes: tuple[str, ...] = ("float32",)
    limits: Limits = field(default_factory=Limits)
    baselines: Mapping[str, Path] = field(default_factory=dict)
    declared: None = None

    format: str = ""
    entry: str = ""
    named: str = "concrete"

    def unfit(self, *, emulated: bool) -> str:
        return ""

    def claims(self, *, emulated: bool) -> tuple[str, ...]:
        return ()

    def construction(self, case: Case) -> None:
        return None

    def draw_cases(self, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:
        return [self._case(number) for number in range(1, self.tests + 1)]

    def timed_cases(self, *, emulated: bool) -> list[Case]:
        return [self._case(self.tests)]

    def timed_families(self, dtype: str) -> tuple[str, ...]:
        return ()

    def parse_case(self, spec: str) -> Case:
        for case in self.timed_cases(emulated=True) + self.draw_cases("", dtype="", room=_ANY):
            if case.spec == spec:
                return case
        raise UsageError(f"case: there are test=1 to test={self.tests}")

    def tensors_of(self, case: Case, dtype: str) -> tuple[TensorSpec, ...]:
        examples = dict(self.draw(_number(case), torch.Generator()))
        wide: dict[str, Any] = {name: x.to(torch.float64) for name, x in examples.items()}
        outputs = self.solve(**wide, **case.scalars)
        found: list[TensorSpec] = []
        for parameter in self.parameters:
            if parameter.direction is None:
                continue
            example = examples.get(parameter.name)
            shape = outputs[parameter.name].shape if example is None else example.shape
            found.append(
                TensorSpec(
                    name=parameter.name,
                    dtype=dtype if example is None else str(example.dtype).split(".")[1],
                    shape=tuple(shape),
                    strides=torch.empty(shape).stride() if example is None else example.stride(),
                    direction=parameter.direction,
                )
            )
        return tuple(found)

    def work(self, case: Case, dtype: str) -> CallCost:
        return CallCost()

    def inputs(self) -> DrawnInputs:
        return DrawnInputs(self.draw)

    def reference(self) -> CloseAnswers:
        return CloseAnswers(self.solve, self.rtol, self.atol)

    def _case(self, number: int) -> Case:
        return Case(label=f"test={number}", scalars=self.scalars)


_ANY = CaseLimits()


def _number(case: Case) -> int:
    return int(case.spec.removeprefix("test="))
