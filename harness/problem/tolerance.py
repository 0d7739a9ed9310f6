"""The error model: how far from the exact result an honest computation may end up.

For every element of an output::

    allowed = (u_acc · t + u_ref) · z · (constant · magnitude + factor · growth · |expected|)
              + u_in · (min(4, 16 / √terms) · magnitude + 4 · |expected|)
              + roundings · ((u_out + u_ref) · |expected| + 16 · max(s_out, flushed))
              + rtol · |expected| + atol

u_acc
    unit roundoff of the type in which sums are kept (``tolerance.accumulator``).
t
    :data:`TRUNCATION` where the accumulator is wider than what is multiplied, else 1: matrix units
    truncate where IEEE arithmetic rounds (Fasi, Higham, Mikaitis, Pranesh, *Numerical behavior of
    NVIDIA tensor cores*, PeerJ CS 7:e330, 2021).
u_ref
    unit roundoff of float64, in which the reference computes: it is no more exact than a float64
    submission, and the difference of the two has the errors of both.
z
    :data:`COMPLEX` for complex outputs, else 1.
magnitude
    what was summed without its signs, |A|·|B| for A·B: the unit of backward error bounds (Higham,
    *Accuracy and Stability of Numerical Algorithms*, 2nd ed., sections 3.1 and 3.5), which the
    testers of the reference BLAS use, too.
constant
    For terms of zero mean the error is a small multiple of u · magnitude, whatever the length and
    the order of summation (Higham, Mary, *Sharper probabilistic backward error analysis for basic
    linear algebra kernels with random data*, SIAM J. Sci. Comput. 42(5), 2020).
growth
    For terms with a mean, partial sums grow towards the result and the error with them: with
    √length as long as rounding errors are independent and of mean zero (Higham, Mary, *A new
    approach to probabilistic rounding error analysis*, SIAM J. Sci. Comput. 41(5), 2019). Where
    they are not, with the length (Higham, sections 3.1 and 4.2): in families whose terms are alike
    (:data:`~harness.problem.sums.SUMS`), and where a mean is too large for so long a sum and is not
    moved (:func:`~harness.problem.sums.steep`). In ``cancellation`` partial sums may be as large as
    the magnitude: there growth counts for that, too.
u_in, terms
    Only where factors may be cut (``tolerance.inputs``), to unit roundoff u_in. Rounding two
    factors makes a product wrong by up to 2 u_in, cutting digits off by up to 4: never more than
    4 u_in · magnitude in all. Of many terms the errors average out, but for their mean, which is
    nothing for rounding and about 1.4 u_in for cutting, and goes along with the result. ``terms``
    is the length, less what a family of values leaves without weight.
roundings
    how often an intermediate result may be rounded to the output's type (unit roundoff u_out,
    smallest subnormal s_out).
flushed
    smallest normal number of float32 (of float64 where sums are kept in it): what is less is 0 in
    kernels that are compiled for fast arithmetic, with ``-ftz=true``.
rtol, atol
    what the problem allows besides, or (with no ``length``) alone; 0 where it does not say.

A complex output's error is the distance |got − expected| in the plane; its unit roundoff is a
component's. Integers are exact. Constants and measured errors: docs/explanation/tolerance.md.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from harness.errors import HarnessError
from harness.problem import model
from harness.problem.case import Case
from harness.problem.dtypes import DTYPES, PRECISIONS, DtypeKind
from harness.problem.model import Declaration, Parameter
from harness.problem.sums import SUMS, FamilySums, largest_mean, steep, terms_of
from harness.problem.terms import Check, Expectation, Stretch

_SINGLE = DTYPES["float32"]
_STRETCH = 1 << 23
"""Elements whose allowance is computed at a time: 64 MiB."""


class Weights(NamedTuple):
    """The formula for one output of a case: magnitude · m + expected · |e| + min_error."""

    magnitude: float
    expected: float
    min_error: float


def weights_of(problem: Declaration, case: Case, output: Parameter, dtype: str) -> Weights | None:
    """The formula's weights for ``output``; None if that is exact."""
    out = output.data_type(dtype)
    if out.kind in (DtypeKind.INTEGER, DtypeKind.BOOLEAN):
        return None
    declared = problem.tolerance
    if declared is None:
        raise HarnessError(f"{problem.slug} declares no tolerance")
    # The reference is itself a float64 computation: its own error adds to the submission's.
    reference = DTYPES["float64"].roundoff
    length = terms_of(problem, case, dtype)
    cut = PRECISIONS.get(declared.inputs.get(out.name, ""), 0.0)
    cut = cut if cut >= out.roundoff else 0.0  # more precise than the type: nothing is lost
    accumulator = DTYPES[declared.accumulator[out.name]]
    unit = accumulator.roundoff
    sums = SUMS.get(case.family, FamilySums())
    # A few terms of either sign are no long sum, whatever the mean they were drawn with.
    tall = sums.share > 0 and steep(problem, case, dtype, largest_mean(length, unit))
    growth = declared.factor * (length if sums.alike or tall else math.sqrt(length))
    # Matrix units truncate, but only where the accumulator is wider than their factors.
    if unit < max(out.roundoff, cut):
        unit *= model.TRUNCATION
    unit += reference
    if out.kind is DtypeKind.COMPLEX:
        unit *= model.COMPLEX
    # Errors of cut factors average out over the terms that weigh something, and no others.
    terms = max(1.0, length * sums.share)
    flushed = DTYPES["float64" if accumulator.smallest < _SINGLE.smallest else "float32"].normal
    pairs = growth if sums.paired and declared.constant else 0.0
    return Weights(
        magnitude=unit * (declared.constant + pairs)
        + cut * min(model.CUT_WORST, model.CUT_SPREAD / math.sqrt(terms)),
        expected=unit * growth
        + cut * model.CUT_MEAN
        + declared.roundings * (out.roundoff + reference)
        + declared.rtol.get(out.name, 0.0),
        min_error=declared.roundings * model.SUBNORMALS * max(out.smallest, flushed)
        + declared.atol.get(out.name, 0.0),
    )


class Modelled(Expectation):
    """Right values that may be off by what the formula says, which is computed where it is used.

    ``weights`` are None where the output is exact; ``magnitude`` is float64 in the shape of
    ``expected``, and None stands for 0.
    """

    __slots__ = ("magnitude", "weights")
    magnitude: Tensor | None
    weights: Weights | None

    def __init__(
        self,
        expected: Tensor,
        weights: Weights | None,
        magnitude: Tensor | None,
        check: "Check | None" = None,
    ) -> None:
        for name, value in (
            ("expected", expected),
            ("weights", weights),
            ("magnitude", magnitude),
            ("check", check),
            ("otherwise", None),
        ):
            object.__setattr__(self, name, value)

    @property
    def allowed(self) -> Tensor:
        """As :func:`allowed_error` says, anew each time."""
        return allowed_error(self.weights, self.expected, self.magnitude)

    def stretches(self) -> Iterator[Stretch]:
        """All of it, in row-major order, a bounded number of elements at a time."""
        expected = self.expected.reshape(-1)
        magnitude = None if self.magnitude is None else self.magnitude.reshape(-1)
        for start in range(0, len(expected), _STRETCH):
            part = slice(start, start + _STRETCH)
            of_part = None if magnitude is None else magnitude[part]
            yield Stretch(
                start, expected[part], allowed_error(self.weights, expected[part], of_part)
            )


def allowed_error(weights: Weights | None, expected: Tensor, magnitude: Tensor | None) -> Tensor:
    """The formula above, element by element: float64, in the shape of ``expected``.

    ``magnitude`` is float64 and at least 0; None stands for 0. Where ``expected``, or a magnitude
    that has weight, is not finite, neither is the result.
    """
    if weights is None:
        return torch.zeros_like(expected, dtype=torch.float64)
    # Checking large outputs takes as long as reading and writing memory: what has no weight is left
    # out, and the constant goes along with the first term.
    min_error = torch.tensor(weights.min_error, dtype=torch.float64)
    if not weights.magnitude or magnitude is None:
        return torch.add(min_error, expected.abs(), alpha=weights.expected)
    allowed = torch.add(min_error, magnitude.to(torch.float64), alpha=weights.magnitude)
    return allowed.add_(expected.abs(), alpha=weights.expected)
