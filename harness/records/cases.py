"""The parts of a result that say whether it is right: its cases, and how one of them fails."""

from typing import Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypeAliasType

from harness.records.fields import Count, Name, Record, Seconds, Text


class Element(Record):
    """One element of an output that is off by more than is allowed."""

    index: tuple[int, ...]
    """Where it is."""
    expected: int | float
    """What the reference has there; integers to the last digit."""
    got: int | float
    """What the submission wrote."""
    allowed: float
    """The largest difference that would have passed."""
    expected_imag: float | None = None
    """The imaginary part of ``expected``; None unless the output is complex."""
    got_imag: float | None = None
    """That of ``got``."""


class Mismatch(Record):
    """How an output differs from what was expected."""

    parameter: Name
    differing: int = Field(ge=1)
    total: int = Field(ge=1)
    first: Element
    worst: Element

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if self.differing > self.total:
            raise ValueError(f"{self.differing} of {self.total} elements cannot differ")
        return self


class CaseResult(Record):
    """One correctness case; ``spec`` is what ``--case`` takes to replay it."""

    spec: Text
    passed: bool
    seconds: Seconds | None = None
    message: Text = ""
    mismatch: Mismatch | None = None

    @model_validator(mode="after")
    def _passed_decides(self) -> Self:
        if self.passed and self.mismatch is not None:
            raise ValueError("a case that passed has no mismatch")
        return self


Numbers = TypeAliasType("Numbers", "int | float | tuple[Numbers, ...]")
"""A number, or rows of them to any depth."""


class TensorValues(Record):
    """All elements of one small tensor, as they were.

    ``values`` is nested as deep as ``shape`` is long, row-major; complex numbers are one level
    deeper, as pairs of real and imaginary part.
    """

    parameter: Name
    role: Literal["input", "expected", "got"]
    shape: tuple[Count, ...]
    values: Numbers


class ShrunkCase(Record):
    """The smallest case found that still fails, and what it was made of.

    ``case`` fails in the same way (verdict) as the one that the grade stumbled on; ``trials`` cases
    were run to find it. ``tensors`` are those of the call that failed, where they are small.
    """

    case: CaseResult
    trials: Count
    seconds: Seconds
    tensors: tuple[TensorValues, ...] = ()

    @model_validator(mode="after")
    def _fails(self) -> Self:
        if self.case.passed:
            raise ValueError("a case that passed is no smaller failure")
        return self
