"""What is right in a call whose reference is off what it says in float64: by how much, or what.

A reference that agrees with float64 where it was tried may be off by more than its tolerance in a
call: a product of float16 rounds the other way now and then, the more often the longer its sums.
An honest kernel is off by as much, in other elements. So where an answer is wrong, the reference is
asked for its own, in its own types, for that very call.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.formats.description import FormatCase
from harness.formats.expected import expectation, inexact
from harness.formats.rounding import ROOM, ROUGH, ROUGHER, pieces, root_mean_square
from harness.problem.terms import Expectation, TensorSpec

OTHER = "reference: says something else in float64 for some inputs"
"""The claim where a reference's own answers are right, too."""

_DEVIATIONS = 8.0
"""What any element may be off at most, in root mean squares of the reference's errors (of a hundred
million normal ones the largest is 6); where the reference is off by more, that element may be."""


def tolerance(case: FormatCase, name: str, expected: Tensor) -> Tensor:
    """What each element of an output may be off in a case, but for rounding."""
    off = expected.abs().mul_(case.rtol).add_(case.atol)
    if error := case.errors.get(name):
        off += error * root_mean_square(expected)
    return off


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
    case: FormatCase, known: Mapping[str, Expectation], own: Mapping[str, Tensor]
) -> tuple[str, dict[str, Expectation]] | None:
    """A claim, and what is right beside what is ``known``; None where the reference agrees with it.

    ``own`` are its own answers, in wide types. Where they are off by no more than roundings
    bring, other answers may be, too; else they are others, and right as they are.
    """
    errors = {name: _error(own[name], one.expected, one.allowed) for name, one in known.items()}
    if all(each.agrees for each in errors.values()):
        return None
    if all(each.rough for each in errors.values()):
        return ROUGHER, {
            spec.name: _widened(case, spec, own[spec.name], known[spec.name], errors[spec.name])
            for spec in case.compared
        }
    found = {}
    for spec in case.compared:
        right = own[spec.name]
        off = tolerance(case, spec.name, right) if inexact(right) else None
        found[spec.name] = expectation(right, off, spec, rounded=True)
    return OTHER, found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Error:
    """How far a reference's own answers are off those in float64."""

    agrees: bool
    """Whether that is allowed."""
    rough: bool
    """Whether it is no more than what roundings bring."""
    everywhere: float
    """What any element may be off for that."""


def _error(own: Tensor, exact: Tensor, allowed: Tensor) -> _Error:
    if not inexact(exact):
        same = torch.equal(own, exact)
        return _Error(agrees=same, rough=same, everywhere=0.0)
    zero = torch.zeros((), dtype=torch.float64, device=exact.device)
    agrees = known = torch.ones((), dtype=torch.bool, device=exact.device)
    total, squares, most = zero.to(exact.dtype), zero, zero
    errors, count = zero, zero
    for mine, right, bound in pieces(own, exact, allowed):
        finite = right.isfinite()
        alike = (mine == right) | (mine.isnan() & right.isnan())
        error = (mine - right).abs().where(finite, 0)
        known = known & (alike | finite).all()
        agrees = agrees & (alike | (finite & (error <= bound))).all()
        errors = errors + error.square().sum()
        most = torch.maximum(most, error.max())
        there = right.where(finite, 0)
        total, squares = total + there.sum(), squares + there.abs().square().sum()
        count = count + finite.sum()
    count = count.clamp(min=1)
    # Beside the spread of the answers, not their size: or what is all but constant would be, too.
    spread = (squares / count - (total / count).abs().square()).clamp(min=0).sqrt()
    deviation = (errors / count).sqrt()
    return _Error(
        agrees=bool(agrees),
        rough=bool(known & (deviation <= ROUGH * spread)),
        everywhere=float(torch.minimum(ROOM * most, _DEVIATIONS * deviation)),
    )


def _widened(
    case: FormatCase, spec: TensorSpec, own: Tensor, known: Expectation, error: _Error
) -> Expectation:
    """What is right in float64, and what the reference is off besides."""
    exact = known.expected
    if error.everywhere == 0.0:
        return Expectation(expected=exact, allowed=known.allowed)
    off = tolerance(case, spec.name, exact)
    for mine, right, bound in pieces(own, exact, off.view(-1)):
        far = (mine - right).abs()
        bound += far.where(far.isfinite(), 0).clamp_(min=error.everywhere)
    return expectation(exact, off, spec, rounded=to_neighbours(case, spec))
