"""The record of two submissions head to head, and what it says: who is faster, if anybody is."""

import math
from typing import Literal

from pydantic import Field, computed_field

from harness.records.fields import Created, Record, Text
from harness.records.measurement import Interval
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.ties import is_ahead


class Shape(Record):
    """One benchmark shape: times per call of A and of B in seconds, and ``ratio`` = A / B.

    ``a_samples_s`` and ``b_samples_s`` are the raw times per call, one per block; ``captured``
    tells of each whether its calls were one CUDA graph.
    """

    spec: Text
    a_s: Interval
    b_s: Interval
    ratio: Interval
    a_captured: bool
    b_captured: bool
    a_samples_s: tuple[float, ...]
    b_samples_s: tuple[float, ...]


class Comparison(Record):
    """What came out: ``ratio`` is the geometric mean of A / B over the shapes, a 95 % interval."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    created: Created
    problem: ProblemRef
    dtype: Text
    device: DeviceRef
    seed: Text
    a: SolutionRef
    b: SolutionRef
    shapes: tuple[Shape, ...] = Field(min_length=1)
    ratio: Interval
    notes: tuple[Text, ...] = ()
    environment: Environment

    @computed_field  # type: ignore[prop-decorator]
    @property
    def faster(self) -> Literal["A", "B"] | None:
        """Which is faster, or None if they cannot be told apart."""
        return faster(self.ratio)

    def to_json(self, indent: int | None = None) -> str:
        """One JSON object: the fields, and ``faster``."""
        return self.model_dump_json(by_alias=True, indent=indent)


def faster(ratio: Interval) -> Literal["A", "B"] | None:
    """Who is faster by the ratio A / B; None if that is not clear.

    The rule is that of the boards (:func:`harness.records.ties.is_ahead`) with a larger doubt: the
    interval as people read it, value ± the wider side, which for a wide interval goes further than
    its lower end.
    """
    above = ratio if ratio.value >= 1 else ratio.inverse()
    lower = 2 * above.value - above.high
    doubt = math.log(above.value / lower) if lower > 0 else math.inf
    if not is_ahead(math.log(above.value), doubt):
        return None
    return "B" if above is ratio else "A"
