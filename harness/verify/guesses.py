"""Impostors that are right for the declared values, or nearly, and for no others.

A kernel like these may do it at the timed sizes alone, which no correctness case has.
"""

from collections.abc import Iterator, Mapping
from functools import partial

import torch
from torch import Tensor

from harness.problem.model import Distribution
from harness.problem.package import Problem
from harness.problem.terms import Direction
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.rounding import FLOAT32
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.impostor import Impostor, answer, replaced
from harness.verify.trial import Answers, Trial
from harness.verify.variants import on_machine

_VALUES = "the values hardly differ from what is declared: leave out no family of timed values"
_BULK = 6.0
"""Standard deviations from its mean that nearly all numbers of a normal distribution are within."""
_TOP = 4.0
"""Standard deviations from its mean that the largest of many such numbers is off by."""


def guesses(problem: Problem, dtype: str, seen: ReferenceTraits) -> Iterator[Impostor]:
    """All of them, for a problem in one data type."""
    make = partial(Impostor, remedy=_VALUES)
    read = [p for p in problem.tensors if p.direction is not Direction.OUT and not p.drawn]
    drawn = {p.name: p.values for p in read if p.data_type(dtype).roundoff}
    if not drawn:
        return
    clamped = partial(_clamped, drawn)
    name = "takes numbers outside the declared range for its ends"
    yield make(name=name, write=answer(clamped), both=False, rare=True)
    first = next(iter(drawn.values()))
    if seen.maxima:
        top = first.b if first.kind == "uniform" else first.a + _TOP * first.b
        machine = ArithmeticModel(working=FLOAT32, maximum=top)
        name = "takes every maximum for that of declared values"
        # In exact arithmetic it may cancel: it shows where numbers overflow, or vanish.
        yield make(name=name, write=answer(on_machine(machine)), both=False, precision=True)
    written = frozenset[str]().union(*(e.names for p in problem.outputs for e in p.shape))
    for parameter in (p for p in read if p.name in drawn):
        name, values = parameter.name, parameter.values
        middle = (values.a + values.b) / 2 if values.kind == "uniform" else values.a
        ways = {}
        if middle not in (0.0, 1.0) and not values.names:  # there are impostors for these
            ways[f"takes {name} for its declared mean"] = partial(
                torch.full_like, fill_value=middle
            )
        for dim, length in enumerate(parameter.shape):
            if length.names and not length.names & written:
                way = partial(_first_half_twice, dim=dim)
                ways[f"takes half of {name} along {length} for the whole"] = way
        for said, how in ways.items():
            for output in problem.outputs:
                writer = replaced(name, how, only=output.name)
                where = f", in {output.name}" if len(problem.outputs) > 1 else ""
                yield make(name=said + where, write=writer, both=False)


def _clamped(drawn: Mapping[str, Distribution], trial: Trial, call: int) -> Answers:
    """The answer for inputs within what is declared, as nearly all declared ones are."""
    inputs = dict(trial.inputs[call])
    for name, declared in drawn.items():
        values = declared.at(trial.case.values)
        normal = values.kind == "normal"
        low = values.a - _BULK * values.b if normal else values.a
        high = values.a + _BULK * values.b if normal else values.b
        x = inputs[name]
        parts = torch.view_as_real(x) if x.is_complex() else x
        cut = parts.clamp(low, high)
        inputs[name] = torch.view_as_complex(cut) if x.is_complex() else cut
    return trial.evaluate(call, inputs=inputs)


def _first_half_twice(x: Tensor, dim: int) -> Tensor:
    half = x.shape[dim] // 2
    if half:
        x = x.clone()
        x.narrow(dim, half, half).copy_(x.narrow(dim, 0, half).clone())
    return x
