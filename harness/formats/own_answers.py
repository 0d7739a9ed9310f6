"""What is right in a call whose reference is off what it says in float64: by how much, or what.

A reference that agrees with float64 where it was tried may be off by more than its tolerance in a
call: a product of float16 rounds the other way now and then, the more often the longer its sums.
An honest kernel is off by as much, in other elements. So where an answer is wrong, the reference is
asked for its own, in its own types, for that very call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from math import inf, isfinite, nan, sqrt

import torch
from torch import Tensor

from harness.formats.description import FormatCase
from harness.formats.expected import expectation, inexact
from harness.formats.rounding import ROOM, ROUGH, ROUGHER, root_mean_square, root_mean_square_of
from harness.formats.streamed import Around, Expected, Numbers, bounded
from harness.problem.terms import Expectation, Streamed, TensorSpec

OTHER = "reference: says something else in float64 for some inputs"
"""The claim where a reference's own answers are right, too."""

_DEVIATIONS = 8.0
"""What any element may be off at most, in root mean squares of the reference's errors (of a hundred
million normal ones the largest is 6); where the reference is off by more, that element may be."""


def tolerance(
    case: FormatCase, name: str, expected: Tensor, size: Callable[[], Tensor] | None = None
) -> Tensor:
    """What each element of an output may be off in a case, but for rounding.

    ``size`` gives the root mean square of all of it where ``expected`` is a part.
    """
    off = expected.abs().mul_(case.rtol).add_(case.atol)
    if error := case.errors.get(name):
        off += error * (root_mean_square(expected) if size is None else size())
    return off


def allowance(
    case: FormatCase,
    spec: TensorSpec,
    expected: Tensor,
    *,
    rounded: bool,
    size: Callable[[], Tensor] | None = None,
) -> Tensor:
    """What each element of an output may be off, rounding included; ``size`` as of a tolerance."""
    off = tolerance(case, spec.name, expected, size) if inexact(expected) else None
    return expectation(expected, off, spec, rounded=rounded).allowed


def size_of(numbers: Numbers) -> Callable[[], Tensor]:
    """Gives the root mean square of numbers that come in parts: found in one pass, once asked."""
    return cache(lambda: root_mean_square_of(numbers))


def around(case: FormatCase, spec: TensorSpec, numbers: Numbers, *, rounded: bool) -> Streamed:
    """What is right around numbers that come in parts, by the case's tolerance."""
    allow = partial(allowance, case, spec, rounded=rounded, size=size_of(numbers))
    return Streamed(Around((numbers,), allow))


def to_neighbours(case: FormatCase, spec: TensorSpec) -> bool:
    """Whether numbers of an output's type beside the right one are right, too.

    They are where the reference itself rounds to that type, or where a tolerance is finer than the
    type: what it compares has then been rounded, and sums in another order may round the other way.
    A tolerance of 0 means the very number.
    """
    dtype: torch.dtype = getattr(torch, spec.dtype)
    fine = inexact(torch.empty(0, dtype=dtype)) and 0 < case.rtol < torch.finfo(dtype).eps
    return case.rounded or fine


def otherwise(
    case: FormatCase, known: Mapping[str, Expectation], own: Mapping[str, Numbers]
) -> tuple[str, dict[str, Expectation]] | None:
    """A claim, and what is right beside what is ``known``; None where the reference agrees with it.

    ``own`` are its own answers, in wide types, in parts like those of what is known. Where they are
    off by no more than roundings bring, other answers may be, too; else they are others, and right
    as they are.
    """
    errors = {name: _error(own[name], one) for name, one in known.items()}
    if all(each.agrees for each in errors.values()):
        return None
    if all(each.rough for each in errors.values()):
        return ROUGHER, {
            spec.name: _widened(case, spec, own[spec.name], known[spec.name], errors[spec.name])
            for spec in case.compared
        }
    return OTHER, {
        spec.name: around(case, spec, own[spec.name], rounded=True) for spec in case.compared
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Error:
    """How far a reference's own answers are off those in float64."""

    agrees: bool
    """Whether that is allowed."""
    rough: bool
    """Whether it is no more than what roundings bring."""
    everywhere: float
    """What any element may be off for that."""


def _error(own: Numbers, exact: Expectation) -> _Error:
    """How far off they are, in one pass over both."""
    agrees = known = same = True
    whole = False
    errors, squares, most, count = 0.0, 0.0, 0.0, 0
    total: complex = 0.0
    for mine, (right, bound) in zip(own, bounded(exact), strict=True):
        if not inexact(right):
            whole, same = True, same and torch.equal(mine, right)
            continue
        finite = right.isfinite()
        alike = (mine == right) | (mine.isnan() & right.isnan())
        error = (mine - right).abs().where(finite, 0)
        known = known and bool((alike | finite).all())
        agrees = agrees and bool((alike | (finite & (error <= bound))).all())
        errors += float(error.square().sum())
        largest = float(error.max())
        most = max(most, largest) if isfinite(largest) else inf
        there = right.where(finite, 0)
        total += there.sum().item()
        squares += float(there.abs().square().sum())
        count += int(finite.sum())
    if whole:
        return _Error(agrees=same, rough=same, everywhere=0.0)
    count = max(count, 1)
    # Beside the spread of the answers, not their size: or what is all but constant would be, too.
    mean = total / count
    spread = sqrt(max(squares / count - mean.real * mean.real - mean.imag * mean.imag, 0.0))
    deviation = sqrt(errors / count) if isfinite(errors) else nan
    return _Error(
        agrees=agrees,
        rough=known and deviation <= ROUGH * spread,
        everywhere=min(ROOM * most, _DEVIATIONS * deviation),
    )


def _widened(
    case: FormatCase, spec: TensorSpec, own: Numbers, known: Expectation, error: _Error
) -> Expectation:
    """What is right in float64, and what the reference is off besides."""
    if error.everywhere == 0.0:
        return known
    numbers, rounded = Expected(known), to_neighbours(case, spec)
    size = size_of(numbers)

    def allow(exact: Tensor, mine: Tensor) -> Tensor:
        off = tolerance(case, spec.name, exact, size)
        far = (mine - exact).abs()
        off += far.where(far.isfinite(), 0).clamp_(min=error.everywhere)
        return expectation(exact, off, spec, rounded=rounded).allowed

    return Streamed(Around((numbers, own), allow))
