"""What a foreign problem is asked for each call: inputs by its code, answers by its reference."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Protocol

import torch
from torch import Tensor

from harness.author.client import AuthorError
from harness.errors import MachineError, ProblemError
from harness.formats.base import Source
from harness.formats.description import FormatCase
from harness.formats.expected import (
    SIGNED,
    expectation,
    inexact,
    marked,
    moved,
    typed,
    with_signs,
)
from harness.formats.own_answers import otherwise, to_neighbours, tolerance
from harness.formats.processes import PROBLEMS
from harness.formats.rounding import root_mean_square
from harness.problem.case import Case
from harness.problem.terms import Expectation, TensorSpec

TINIEST = 2.0**-126
"""The smallest normal number of float32: what is less may be 0."""


class Asked(Protocol):
    """What is known of the problem: see :class:`harness.formats.problem.Foreign`."""

    @property
    def source(self) -> Source:
        """Its files."""

    @property
    def measured(self) -> bool:
        """Whether its tolerance is."""

    @property
    def redrawn(self) -> frozenset[str]:
        """Weights with values around those that they are made with."""

    def concrete(self, case: Case) -> tuple[FormatCase, int, bool]:
        """What its process said of a case, the seed of its weights, and whether sizes are cut."""


@dataclass(frozen=True, slots=True)
class ForeignInputs:
    """Inputs by the format's own code, from seeds of ours: an ``InputSource``."""

    problem: Asked

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        """One tensor of a call, drawn with the others."""
        each, _, small = self.problem.concrete(case)
        spec = case.spec.removesuffix(SIGNED)
        if tensor in each.weights:
            return self._weight(each, tensor, self._seed("weights", seed, spec), small=small)
        bits = self._seed("draw", seed, spec)
        drawn = PROBLEMS.drawn(self.problem.source, each, small=small, seed=bits)[tensor.name]
        return drawn if spec == case.spec else with_signs(drawn, bits)

    def _seed(self, what: str, seed: str, spec: str) -> int:
        digest = sha256(f"{what}|{seed}|{self.problem.source.hash}|{spec}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    def _weight(self, each: FormatCase, tensor: TensorSpec, seed: int, *, small: bool) -> Tensor:
        """A weight of a module that the format's code makes for a call."""
        made = PROBLEMS.weights(
            self.problem.source, each.weights, small=small, seed=seed, on_host=each.answers_on_host
        )
        weight = made[tensor.name]
        if tensor.name not in self.problem.redrawn:
            return weight
        return moved(weight, self._seed("moved", str(seed), tensor.name))

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        """Call by call; a warm-up's calls are alike."""
        for number, call in enumerate(out):
            call.copy_(self.draw(tensor, case, f"{seed}/{0 if warm_up else number}"))


@dataclass(frozen=True, slots=True)
class ForeignAnswers:
    """The format's reference, in float64 where it runs, and the format's tolerance around it."""

    problem: Asked
    capturable: bool = False

    def expectations(
        self,
        case: Case,
        dtype: str,  # noqa: ARG002 (the Protocol's)
        inputs: Mapping[str, Tensor],
        *,
        summed: bool = True,  # noqa: ARG002 (likewise)
    ) -> dict[str, Expectation]:
        """What is right, and ``rtol · |right| + atol``, and no less than rounding brings."""
        if self.problem.measured:
            return self._measured(case, inputs)
        each, weights, small = self.problem.concrete(case)
        right = PROBLEMS.right(self.problem.source, each, inputs, small=small, weights=weights)
        device = _device(each, inputs)
        found = {}
        for spec in each.compared:
            expected = right[spec.name].to(device)
            off = tolerance(each, spec.name, expected) if inexact(expected) else None
            rounded = to_neighbours(each, spec)
            found[spec.name] = expectation(expected, off, spec, rounded=rounded)
        if not each.own:
            return self._with_otherwise(case, inputs, found)

        def check(outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
            got = {spec.name: typed(outputs[spec.name], spec) for spec in each.compared}
            said = PROBLEMS.checked(self.problem.source, each, inputs, got, small=small)
            marks = marked(got, found, right=said)
            return {
                name: mark & (outputs[name] <= 1) if got[name].dtype is torch.bool else mark
                for name, mark in marks.items()
            }

        return {name: replace(want, check=check) for name, want in found.items()}

    def _with_otherwise(
        self, case: Case, inputs: Mapping[str, Tensor], known: Mapping[str, Expectation]
    ) -> dict[str, Expectation]:
        """What is right, and a way to ask what the reference itself says: once, and only then."""
        source, (each, weights, small) = self.problem.source, self.problem.concrete(case)

        @cache
        def ask() -> Mapping[str, Expectation] | None:
            device = _device(each, inputs)
            # Where there is no room for that, or it fails, float64 decides alone.
            with suppress(MachineError, torch.OutOfMemoryError, AuthorError, ProblemError):
                said = PROBLEMS.right(source, each, inputs, small=small, weights=weights, own=True)
                own = {name: x.to(device) for name, x in said.items()}
                found = otherwise(each, known, own)
                if found is not None:
                    PROBLEMS.found(source, found[0], small=small)
                    return found[1]
            return None

        return {name: replace(want, otherwise=ask) for name, want in known.items()}

    def _measured(self, case: Case, inputs: Mapping[str, Tensor]) -> dict[str, Expectation]:
        """What is right, and what was measured around it, with a rounding to the output's type."""
        each, weights, small = self.problem.concrete(case)
        source = self.problem.source
        right = PROBLEMS.right(source, each, inputs, small=small, weights=weights)
        errors = PROBLEMS.measured(source, each, small=small)
        device = _device(each, inputs)
        found = {}
        for spec in each.compared:
            expected, off = right[spec.name].to(device), None
            if inexact(expected):
                rms = root_mean_square(expected)
                off = expected.abs().clamp_(min=rms).mul_(errors.get(spec.name, 0.0)).add_(TINIEST)
            found[spec.name] = expectation(expected, off, spec, rounded=each.rounded)
        return found


def _device(case: FormatCase, inputs: Mapping[str, Tensor]) -> torch.device:
    """Where the answers to a call's inputs are to lie."""
    if case.answers_on_host:
        return torch.device("cpu")
    return next((tensor.device for tensor in inputs.values()), torch.device("cpu"))
