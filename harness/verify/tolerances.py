"""Formats that a problem's tolerance allows: of sums, of results, of cut factors."""

from harness.problem.dtypes import DataType, DtypeKind
from harness.problem.model import Problem
from harness.verify.arithmetic.rounding import FLOAT32, FLOAT64, Format, component


def result_type(problem: Problem, dtype: str) -> DataType | None:
    """The type of the first output that is not exact, None if all are."""
    for parameter in problem.outputs:
        kind = parameter.data_type(dtype)
        if kind.kind in (DtypeKind.FLOAT, DtypeKind.COMPLEX):
            return kind
    return None


def accumulator_of(problem: Problem, dtype: str) -> Format:
    """The format in which sums must be kept."""
    out = result_type(problem, dtype)
    if out is None or problem.tolerance is None:
        return FLOAT64
    return component(problem.tolerance.accumulator[out.name])


def working(problem: Problem, dtype: str) -> Format:
    """The format in which an honest kernel holds what it computes."""
    return FLOAT64 if accumulator_of(problem, dtype) is FLOAT64 else FLOAT32


def storage(problem: Problem, dtype: str) -> Format:
    """The format of the outputs, or of one component."""
    out = result_type(problem, dtype)
    return FLOAT64 if out is None else component(out.name)


def inputs_allowed(problem: Problem, dtype: str) -> Format | None:
    """The precision to which factors may be cut, None where they may not."""
    if problem.tolerance is None:
        return None
    name = problem.tolerance.inputs.get(dtype)
    if name is None or name == dtype:
        return None
    return component(name)
