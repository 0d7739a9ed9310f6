"""Impostors that are right for the declared values, or nearly, and for no others.

A kernel like these may do it at the timed sizes alone, which no correctness case has.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from torch import Tensor

from harness.problem.model import Distribution, Parameter
from harness.problem.package import Problem
from harness.problem.sums import damped, mean_of, one_sided, steepest_drawn
from harness.problem.terms import Direction
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.rounding import FLOAT32
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.impostor import Impostor, answer
from harness.verify.trial import Answers, Trial
from harness.verify.variants import on_machine

_Way = Callable[[Trial, Tensor], Tensor]
"""Makes another input of one in a trial."""

_VALUES = "the values hardly differ from what is declared: leave out no family of timed values"
_BULK = 6.0
"""Standard deviations from its mean that nearly all numbers of a normal distribution are within."""
_TOP = 4.0
"""Standard deviations from its mean that the largest of many such numbers is off by."""


def guesses(problem: Problem, dtype: str, seen: ReferenceTraits) -> Iterator[Impostor]:
    """All of them, for a problem in one data type."""
    make = partial(Impostor, remedy=_VALUES)
    read = [p for p in problem.tensors if p.direction is not Direction.OUT and not p.drawn]
    drawn = {p.name: p for p in read if p.data_type(dtype).roundoff}
    if not drawn:
        return
    clamped = partial(_clamped, drawn)
    name = "takes numbers outside the declared range for its ends"
    yield make(name=name, write=answer(clamped), both=False, rare=True)
    first = next(iter(drawn.values())).values
    if seen.maxima:
        top = first.b if first.kind == "uniform" else first.a + _TOP * first.b
        machine = ArithmeticModel(working=FLOAT32, maximum=top)
        name = "takes every maximum for that of declared values"
        # In exact arithmetic it may cancel: it shows where numbers overflow, or vanish.
        yield make(name=name, write=answer(on_machine(machine)), both=False, precision=True)
    written = frozenset[str]().union(*(e.names for p in problem.outputs for e in p.shape))
    for name, parameter in drawn.items():
        ways: dict[str, _Way] = {}
        if mean_of(parameter.values) not in (0.0, 1.0) and not parameter.values.names:
            # There are impostors for 0 and 1.
            ways[f"takes {name} for its declared mean"] = partial(_mean, parameter)
        for dim, length in enumerate(parameter.shape):
            if length.names and not length.names & written:
                way = partial(_first_half_twice, dim)
                ways[f"takes half of {name} along {length} for the whole"] = way
        for said, how in ways.items():
            for output in problem.outputs:
                writer = answer(partial(_replaced, name, how, output.name))
                where = f", in {output.name}" if len(problem.outputs) > 1 else ""
                yield make(name=said + where, write=writer, both=False)


def _replaced(name: str, how: _Way, only: str, trial: Trial, call: int) -> Answers:
    """The answer for another input in the output ``only``, the rest right."""
    inputs = trial.inputs[call]
    found = trial.evaluate(call, inputs={**inputs, name: how(trial, inputs[name])})
    return {**trial.right[call], only: found[only]}


def _drawn_from(parameter: Parameter, trial: Trial) -> Distribution:
    """What the declared values of a case are drawn from: in long sums the mean is smaller."""
    values = parameter.values.at(trial.case.values)
    task = trial.task
    element = parameter.data_type(task.dtype).name
    steepest = steepest_drawn(task.problem, trial.case, parameter, element)
    return values if one_sided(values) else damped(values, steepest)


def _mean(parameter: Parameter, trial: Trial, x: Tensor) -> Tensor:
    return torch.full_like(x, mean_of(_drawn_from(parameter, trial)))


def _clamped(drawn: Mapping[str, Parameter], trial: Trial, call: int) -> Answers:
    """The answer for inputs within what is declared, as nearly all declared ones are."""
    inputs = dict(trial.inputs[call])
    for name, parameter in drawn.items():
        values = _drawn_from(parameter, trial)
        normal = values.kind == "normal"
        low = values.a - _BULK * values.b if normal else values.a
        high = values.a + _BULK * values.b if normal else values.b
        x = inputs[name]
        parts = torch.view_as_real(x) if x.is_complex() else x
        cut = parts.clamp(low, high)
        inputs[name] = torch.view_as_complex(cut) if x.is_complex() else cut
    return trial.evaluate(call, inputs=inputs)


def _first_half_twice(dim: int, trial: Trial, x: Tensor) -> Tensor:  # noqa: ARG001 - as the others
    half = x.shape[dim] // 2
    if half:
        x = x.clone()
        x.narrow(dim, half, half).copy_(x.narrow(dim, 0, half).clone())
    return x
