"""What sums of drawn values are like: how large a mean may be, and which errors do not average out.

Rounding errors of a sum in order are independent, and of mean zero, while units in the last place
of the partial sums are less than the spread of the terms, and these have many values. Else many
terms are rounded the same way, or lost. So means are kept small where sums are long, and where that
is not possible the tolerance knows it (:mod:`~harness.problem.tolerance`).
"""

import math
from dataclasses import replace
from typing import NamedTuple

from harness.problem.case import SPARSE, Case
from harness.problem.dtypes import DTYPES, DataType, DtypeKind
from harness.problem.model import Declaration, Distribution, Parameter
from harness.problem.terms import Direction


class FamilySums(NamedTuple):
    """What the tolerance knows of sums of a family's values."""

    share: float = 1.0
    """Part of the terms that carries a sum of products of two tensors."""
    alike: bool = False
    """Whether terms have few bits or values, or many are lost beside a few: all additions may round
    the same way, and errors grow with the length, not with its root."""
    paired: bool = False
    """Whether partial sums of every second term are as large as the magnitude of all."""


SUMS = {
    # One in 8·8 products is left.
    "zeros": FamilySums(share=1 / 64),
    # The few largest dominate: factors 2^i, i evenly from −8 to 8, make E x² / (E|x|)² 5.7 times
    # what it is, and two of them together 32 times. Where they have a mean, small ones are lost.
    "mixed": FamilySums(share=1 / 32, alike=True),
    # Seven values: what a function makes of them is added in seven steps.
    "integers": FamilySums(alike=True),
    "constant": FamilySums(alike=True),
    "rows": FamilySums(alike=True),
    # Whoever adds every second term apart, as lanes of a warp do, has two sums of one sign each.
    "cancellation": FamilySums(paired=True),
    # A handful, however long the sum.
    SPARSE: FamilySums(share=0.0),
}
"""Families whose sums are unlike those of as many independent numbers."""

_SPREAD = 1 / 8
"""Unit roundoff times partial sums is at most so much of the terms' spread σ: units in the last
place at most a quarter."""

_EDGE = 16.0
"""The same times √terms is at most so much. Where the density has edges, as a uniform one, rounding
to units q = 2 u S moves terms by up to q²/(24 σ) on average, and a sum of n terms of mean a σ by
n³ u² a² σ / 18: a quarter of the 4 √n u · n a σ that is allowed where n^1.5 u a is 16."""


def largest_mean(terms: float, roundoff: float) -> float:
    """Standard deviations that the mean of so many terms may be, summed with unit ``roundoff``.

    In float32 250 at 8,400 terms, 2 at 260,000 and 0.001 at 40 million, where even the mean of all
    is then off by more than is allowed if a constant is taken for it.
    """
    if terms <= 1:
        return math.inf
    return min(_SPREAD, _EDGE / math.sqrt(terms)) / (terms * roundoff)


def mean_of(values: Distribution) -> float:
    """The mean of a distribution."""
    return (values.a + values.b) / 2 if values.kind == "uniform" else values.a


def spread_of(values: Distribution) -> float:
    """The standard deviation of a distribution."""
    return (values.b - values.a) / math.sqrt(12) if values.kind == "uniform" else values.b


def one_sided(values: Distribution) -> bool:
    """Whether bounds are declared that leave one sign: a domain, which no mean is moved out of."""
    return values.kind == "uniform" and (values.a >= 0 or values.b <= 0)


def damped(values: Distribution, steepest: float) -> Distribution:
    """``values`` moved towards 0 until their mean is at most ``steepest`` standard deviations."""
    mean, most = mean_of(values), spread_of(values) * steepest
    if abs(mean) <= most:
        return values
    shift = math.copysign(most, mean) - mean
    if values.kind == "uniform":
        return replace(values, a=values.a + shift, b=values.b + shift)
    return replace(values, a=mean + shift)


def terms_of(problem: Declaration, case: Case, dtype: str) -> float:
    """How many terms are summed for one element of an output, at least 1."""
    if problem.tolerance is None:
        return 1.0
    return max(1.0, problem.evaluate(problem.tolerance.length, case.values, dtype))


def steepest_drawn(problem: Declaration, case: Case, parameter: Parameter, element: str) -> float:
    """Standard deviations that the mean of a tensor with ``element`` type is drawn with, at most.

    So that sums of them are sound for every output, and with every data type that makes the
    tensor's elements be of this type.
    """
    if problem.tolerance is None:
        return math.inf
    accumulator = problem.tolerance.accumulator
    return min(
        (
            largest_mean(terms_of(problem, case, dtype), DTYPES[accumulator[kind.name]].roundoff)
            for dtype in problem.dtypes
            if parameter.data_type(dtype).name == element
            for kind in (output.data_type(dtype) for output in problem.outputs)
            if kind.name in accumulator
        ),
        default=math.inf,
    )


def steep(problem: Declaration, case: Case, dtype: str, steepest: float) -> bool:
    """Whether a tensor of this case has a mean of more than ``steepest`` standard deviations.

    Only those may that are never moved: integers, what has declared bounds of one sign, and what
    the author draws, which is taken for numbers from 0 to 1.
    """
    for p in problem.tensors:
        if p.direction is Direction.OUT:
            continue
        element = p.data_type(dtype)
        whole = element.kind in (DtypeKind.INTEGER, DtypeKind.BOOLEAN)
        values = p.values.at(case.values, whole=whole)
        if whole:
            low, high = whole_bounds(element, values)
            values = Distribution(kind="uniform", a=low, b=high)
        elif p.drawn:
            values = Distribution(kind="uniform", a=0.0, b=1.0)
        elif not one_sided(values):
            continue
        if abs(mean_of(values)) > steepest * spread_of(values):
            return True
    return False


def whole_bounds(element: DataType, values: Distribution) -> tuple[int, int]:
    """The declared lowest and highest integer; −8 and 8 (0 and 8 without a sign) if none."""
    if element.kind is DtypeKind.BOOLEAN:
        return 0, 1
    if values.kind == "uniform":
        return round(values.a), round(values.b)
    return (0 if element.name.startswith("u") else -8), 8
