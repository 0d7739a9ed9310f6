"""The record of two submissions head to head, and what it says: who is faster, if anybody is."""

import math
from typing import Literal

from pydantic import Field, computed_field

from harness.records.fields import Created, Document, Notes, Record, Samples, Text
from harness.records.measurement import Clocks, Interval, Ratio, Time
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.ties import GRADE_SPREAD, Z95, is_ahead


class Shape(Record):
    """One benchmark shape of two submissions; samples are raw times per call, one per block."""

    spec: Text
    """Sizes and scalars of the shape, as ``--case`` takes them."""
    a_s: Time
    """Seconds per call of A."""
    b_s: Time
    """Seconds per call of B."""
    ratio: Ratio
    """A / B."""
    a_captured: bool
    """The calls of A were one CUDA graph."""
    b_captured: bool
    """The calls of B were one CUDA graph."""
    a_samples_s: Samples
    """Samples of A, seconds."""
    b_samples_s: Samples
    """Samples of B, seconds."""
    clocks: Clocks | None = None
    """The card's clocks, of B as the submission and A as the baseline; None if not read."""


class Comparison(Document):
    """What a comparison of two submissions says."""

    schemas = (1,)
    schema_version: Literal[1] = Field(default=1, alias="schema")
    """Version of the keys."""
    created: Created
    """When it was done."""
    problem: ProblemRef
    """The problem, as it was then."""
    dtype: Text
    """Data type that [VAR] stood for."""
    device: DeviceRef
    """Where both ran."""
    seed: Text
    """What the inputs were drawn from."""
    a: SolutionRef
    """One submission."""
    b: SolutionRef
    """The other one."""
    shapes: tuple[Shape, ...] = Field(min_length=1)
    """Times by shape."""
    ratio: Ratio
    """Geometric mean of A / B over the shapes."""
    notes: Notes = ()
    """What else a reader should know."""
    environment: Environment
    """What else the times depend on."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def faster(self) -> Literal["A", "B"] | None:
        """Which is faster, or None if they cannot be told apart."""
        return faster(self.ratio)


def faster(ratio: Interval) -> Literal["A", "B"] | None:
    """Who is faster by the ratio A / B; None if that is not clear.

    The rule is that of the boards (:func:`harness.records.ties.is_ahead`) with a larger doubt: the
    interval as people read it, value ± the wider side, which for a wide interval goes further than
    its lower end. A comparison is one grade, with A for the baseline: so the spread of grades
    counts once, where it counts twice between two entries of a board.
    """
    above = ratio if ratio.value >= 1 else ratio.inverse()
    lower = 2 * above.value - above.high
    doubt = math.log(above.value / lower) if lower > 0 else math.inf
    if not is_ahead(math.log(above.value), math.hypot(doubt, Z95 * GRADE_SPREAD)):
        return None
    return "B" if above is ratio else "A"
