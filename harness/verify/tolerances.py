"""Formats that a problem's tolerance asks for: of sums, of results, of cut factors."""

from dataclasses import dataclass

from harness.problem.model import Problem
from harness.verify.arithmetic.rounding import FLOAT32, FLOAT64, Format, component


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredFormats:
    """Formats that the tolerance asks for, in one data type."""

    accumulator: Format
    """Sums must be kept in it."""
    storage: Format
    """Of the first output that is not exact, or of one component."""
    factors: Format | None
    """Factors may be cut to it; None where they may not be cut."""

    @property
    def working(self) -> Format:
        """The format in which an honest kernel holds what it computes."""
        return FLOAT64 if self.accumulator is FLOAT64 else FLOAT32


def required_formats(problem: Problem, dtype: str) -> RequiredFormats | None:
    """The formats for a problem in one data type; None if all its outputs are exact."""
    types = [parameter.data_type(dtype) for parameter in problem.outputs]
    inexact = [kind.name for kind in types if kind.roundoff]
    if not inexact or problem.tolerance is None:
        return None
    factors = problem.tolerance.inputs.get(dtype, dtype)
    return RequiredFormats(
        accumulator=component(problem.tolerance.accumulator[inexact[0]]),
        storage=component(inexact[0]),
        factors=None if factors == dtype else component(factors),
    )
