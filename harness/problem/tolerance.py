"""How far from the exact result an honest computation may end up: an error model, no taste.

For every element of an output::

    allowed = u_acc · t · (constant · magnitude + factor · √length · |expected|)
              + roundings · (u_out · |expected| + SUBNORMALS · s_out)

u_acc
    unit roundoff of the type in which sums are kept (``tolerance.accumulator``).
t
    :data:`TRUNCATION` where the accumulator is wider than the data type, else 1: matrix units
    truncate where IEEE arithmetic rounds (Fasi, Higham, Mikaitis, Pranesh, *Numerical behavior of
    NVIDIA tensor cores*, PeerJ CS 7:e330, 2021).
magnitude
    what was summed without its signs, |A|·|B| for A·B: the gauge in which backward error bounds
    are written (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., sections 3.1
    and 3.5) and which the testers of the reference BLAS use.
constant
    For terms of zero mean the error is a small multiple of u · magnitude, whatever the length and
    the order of summation (Higham, Mary, *Sharper probabilistic backward error analysis for basic
    linear algebra kernels with random data*, SIAM J. Sci. Comput. 42(5), 2020).
factor · √length
    For terms with a mean, partial sums grow towards the result and the error with them, with the
    square root of the length (Higham, Mary, *A new approach to probabilistic rounding error
    analysis*, SIAM J. Sci. Comput. 41(5), 2019; Higham, section 4.2).
roundings
    how often a result on its way may be rounded to the output's type (unit roundoff u_out,
    smallest subnormal s_out).

Constants and measured errors: docs/tolerance.md. Integers are exact: nothing is allowed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.errors import HarnessError
from harness.problem.draws import Case
from harness.problem.dtypes import DTYPES, Kind
from harness.problem.expressions import SIZEOF_VAR
from harness.problem.model import Parameter, Problem
from harness.problem.reference import Reference

TRUNCATION = 8.0
"""Unit roundoffs of the accumulator that a matrix unit may lose where rounding loses one."""

SUBNORMALS = 16.0
"""An intermediate result below the normal range loses up to half a subnormal absolutely, and what
it is multiplied with afterwards multiplies that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What one output should hold: ``expected`` in float64, ``allowed`` error per element."""

    expected: Tensor
    allowed: Tensor


def expectations(
    reference: Reference, problem: Problem, case: Case, dtype: str, tensors: Mapping[str, Tensor]
) -> dict[str, Expectation]:
    """Expected values and allowed errors of every output, on the device of ``tensors``.

    Raises:
        ProblemError: the reference is wrong.
    """
    expected = reference.expected(problem, case, tensors)
    magnitude = reference.magnitude(problem, case, tensors)
    return {
        p.name: Expectation(
            expected=expected[p.name],
            allowed=allowed_error(problem, case, p, dtype, expected[p.name], magnitude.pop(p.name)),
        )
        for p in problem.outputs
    }


def allowed_error(
    problem: Problem,
    case: Case,
    parameter: Parameter,
    dtype: str,
    expected: Tensor,
    magnitude: Tensor,
) -> Tensor:
    """The formula above, element by element. ``magnitude`` (float64) is overwritten and returned.

    Raises:
        HarnessError: the problem declares no tolerance.
        ExpressionError: its length has no value for this case.
    """
    out = parameter.data_type(dtype)
    if out.kind in (Kind.INTEGER, Kind.BOOLEAN):
        return torch.zeros_like(expected, dtype=torch.float64)
    model = problem.tolerance
    if model is None:
        raise HarnessError(f"{problem.slug} declares no tolerance")
    accumulator = DTYPES[model.accumulator[out.name]]
    unit = accumulator.roundoff
    if accumulator.roundoff < out.roundoff:
        unit *= TRUNCATION
    length = max(1.0, float(model.length.evaluate({**case.values, SIZEOF_VAR: out.itemsize})))
    relative = unit * model.factor * math.sqrt(length) + model.roundings * out.roundoff
    allowed = magnitude.mul_(unit * model.constant)
    allowed.add_(expected.abs(), alpha=relative)
    return allowed.add_(model.roundings * SUBNORMALS * out.smallest)
