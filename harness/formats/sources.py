"""What a foreign problem is asked for each call: inputs by its code, answers by its reference."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
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
from harness.formats.own_answers import allowance, around, otherwise, size_of, to_neighbours
from harness.formats.processes import PROBLEMS
from harness.formats.rounding import root_mean_square
from harness.formats.streamed import Around, ByRows, Held, Numbers
from harness.problem.case import Case
from harness.problem.terms import Direction, Expectation, Otherwise, Streamed, TensorSpec

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

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        """The same, written to ``out``; from the card piece by piece where there is little room."""
        each, _, small = self.problem.concrete(case)
        source = self.problem.source
        drawn_alone = tensor not in each.weights and not case.spec.endswith(SIGNED)
        if drawn_alone and PROBLEMS.comes_in_pieces(source, each, tensor, small=small):
            bits = self._seed("draw", seed, case.spec)
            PROBLEMS.draw_to(out, tensor, source, each, small=small, seed=bits)
        else:
            out.copy_(self.draw(tensor, case, seed))

    def _seed(self, what: str, seed: str, spec: str) -> int:
        digest = sha256(f"{what}|{seed}|{self.problem.source.hash}|{spec}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    def _weight(self, each: FormatCase, tensor: TensorSpec, seed: int, *, small: bool) -> Tensor:
        """A weight of a module that the format's code makes for a call."""
        made = PROBLEMS.weights(
            self.problem.source,
            each.weights,
            small=small,
            seed=seed,
            on_host=False,
            through_host=each.streamed,
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
        """What is right, and ``rtol · |right| + atol``, and no less than rounding brings.

        Where a card has no room for all of that it comes piece by piece, and what is allowed is
        computed on the card with each; ``inputs`` must then stay as they are while it is used.
        """
        each, weights, small = self.problem.concrete(case)
        if each.streamed:
            return self._streamed(case, inputs)
        if self.problem.measured:
            return self._measured(case, inputs)
        right = PROBLEMS.right(self.problem.source, each, inputs, small=small, weights=weights)
        device = _device(inputs)
        found = {}
        for spec in each.compared:
            expected = right[spec.name].to(device)
            off = allowance(each, spec, expected, rounded=to_neighbours(each, spec))
            found[spec.name] = Expectation(expected=expected, allowed=off)
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
        """What is right, and a way to ask what the reference itself says."""
        ask = self._asked_otherwise(case, inputs, known)
        return {name: replace(want, otherwise=ask) for name, want in known.items()}

    def _asked_otherwise(
        self, case: Case, inputs: Mapping[str, Tensor], known: Mapping[str, Expectation]
    ) -> Otherwise:
        """Asks what the reference itself says beside what is known: once, and only when called."""
        source, (each, _, small) = self.problem.source, self.problem.concrete(case)

        @cache
        def ask() -> Mapping[str, Expectation] | None:
            # Where there is no room for that, or it fails, float64 decides alone.
            with suppress(MachineError, torch.OutOfMemoryError, AuthorError, ProblemError):
                found = otherwise(each, known, self._numbers(case, inputs, own=True))
                if found is not None:
                    PROBLEMS.found(source, found[0], small=small)
                    return found[1]
            return None

        return ask

    def _streamed(self, case: Case, inputs: Mapping[str, Tensor]) -> dict[str, Expectation]:
        """What is right, piece by piece, by the format's tolerance or the measured one."""
        each, _, small = self.problem.concrete(case)
        numbers = self._numbers(case, inputs)
        if self.problem.measured:
            errors = PROBLEMS.measured(self.problem.source, each, small=small)
            measured: dict[str, Expectation] = {}
            for spec in each.compared:
                mine, error = numbers[spec.name], errors.get(spec.name, 0.0)
                allow = partial(_around_measured, each, spec, error, size_of(mine))
                measured[spec.name] = Streamed(Around((mine,), allow))
            return measured
        known = {
            spec.name: around(each, spec, numbers[spec.name], rounded=to_neighbours(each, spec))
            for spec in each.compared
        }
        ask = self._asked_otherwise(case, inputs, known)
        return {name: Streamed(one.pieces, ask) for name, one in known.items()}

    def _numbers(
        self, case: Case, inputs: Mapping[str, Tensor], *, own: bool = False
    ) -> dict[str, Numbers]:
        """The right numbers of each output, or the reference's ``own``, part by part."""
        each, weights, small = self.problem.concrete(case)
        source, device = self.problem.source, _device(inputs)
        if not each.rows:
            right = PROBLEMS.right(source, each, inputs, small=small, weights=weights, own=own)
            return {spec.name: Held(right[spec.name], device) for spec in each.compared}

        def some(spec: TensorSpec, rows: slice) -> Tensor:
            part = _of_rows(each, spec, rows)
            kept = {weight.name for weight in each.weights}
            given = {name: x if name in kept else x[rows] for name, x in inputs.items()}
            right = PROBLEMS.right(source, part, given, small=small, weights=weights, own=own)
            return right[spec.name].to(device)

        return {
            spec.name: ByRows(spec.shape, each.rows, partial(some, spec)) for spec in each.compared
        }

    def _measured(self, case: Case, inputs: Mapping[str, Tensor]) -> dict[str, Expectation]:
        """What is right, and what was measured around it, with a rounding to the output's type."""
        each, weights, small = self.problem.concrete(case)
        source = self.problem.source
        right = PROBLEMS.right(source, each, inputs, small=small, weights=weights)
        errors = PROBLEMS.measured(source, each, small=small)
        device = _device(inputs)
        found = {}
        for spec in each.compared:
            expected, error = right[spec.name].to(device), errors.get(spec.name, 0.0)
            size = partial(root_mean_square, expected)
            off = _around_measured(each, spec, error, size, expected)
            found[spec.name] = Expectation(expected=expected, allowed=off)
        return found


def _around_measured(
    case: FormatCase,
    spec: TensorSpec,
    error: float,
    size: Callable[[], Tensor],
    expected: Tensor,
) -> Tensor:
    """What was measured around numbers of an output, whose root mean square is ``size``."""
    off = None
    if inexact(expected):
        off = expected.abs().clamp_(min=size()).mul_(error).add_(TINIEST)
    return expectation(expected, off, spec, rounded=case.rounded).allowed


def _of_rows(case: FormatCase, output: TensorSpec, rows: slice) -> FormatCase:
    """Some rows of a case, with one of its outputs."""
    cut = (
        replace(spec, shape=(rows.stop - rows.start, *spec.shape[1:]))
        for spec in case.tensors
        if spec.direction is Direction.IN or spec is output
    )
    return replace(case, tensors=tuple(cut))


def _device(inputs: Mapping[str, Tensor]) -> torch.device:
    """Where the answers to a call's inputs are compared."""
    return next((tensor.device for tensor in inputs.values()), torch.device("cpu"))
