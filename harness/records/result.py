r"""The one record that a grade leaves behind, and the only thing `harness` and `leaderboard` share.

Frozen, versioned, and readable as JSON (every key: ``docs/reference/result.md``). Times are in
seconds, memory in bytes. The verdict decides which fields exist: only an accepted result has
measurements and a score, every other one has a message, a wrong answer has the case that shows it.

Text that comes from a submission (names, logs, output) is kept as it came and is not safe to
print: :mod:`harness.text.plain` makes it so. Only lone surrogates, which no UTF-8 file can hold,
are escaped here (``\udc80``), so that a strange file name cannot lose a result.
"""

import math
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from harness.records.build import Build
from harness.records.cases import CaseResult, ShrunkCase
from harness.records.effort import Effort
from harness.records.fields import MOST_LISTED, Created, Document, Name, Notes, Text
from harness.records.measurement import Conditions, Measurement, Score
from harness.records.profile import Profile
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.upgrade import from_schema_1


class Verdict(StrEnum):
    """What the judge decided."""

    ACCEPTED = "ACCEPTED"
    WRONG_ANSWER = "WRONG_ANSWER"
    COMPILE_ERROR = "COMPILE_ERROR"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    TIME_LIMIT = "TIME_LIMIT"
    MEMORY_LIMIT = "MEMORY_LIMIT"
    NOT_EXECUTABLE_HERE = "NOT_EXECUTABLE_HERE"
    INVALID_SUBMISSION = "INVALID_SUBMISSION"
    REJECTED = "REJECTED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class Reason(StrEnum):
    """What exactly is wrong, where a verdict alone says too little to be counted."""

    NO_CODE = "NO_CODE"
    TRUNCATED_IN_REASONING = "TRUNCATED_IN_REASONING"


class Result(Document):
    """The whole outcome of grading one submission.

    Raises:
        pydantic.ValidationError: (a ValueError) the fields do not belong together.
    """

    schemas = (1, 2)
    schema_version: Literal[2] = Field(default=2, alias="schema")
    """Version of the keys."""
    id: Name
    """Unique; a store adds it once."""
    created: Created
    """When it was graded, in UTC."""
    problem: ProblemRef
    """The problem, as it was then."""
    solution: SolutionRef
    """The submission."""
    language: Text
    """The language, as ``solution`` names it."""
    dtype: Text
    """Data type that [VAR] stood for."""
    device: DeviceRef
    """Where it ran."""
    verdict: Verdict
    """What the judge decided."""
    reason: Reason | None = None
    """Why a model's output is no submission."""
    message: Text = ""
    """What is wrong, in one or a few lines."""
    reproduce: Text = ""
    """Command that replays the smallest failing case; empty if none failed."""
    effort: Effort | None = None
    """How much was spent on it; a `verdict` is never ranked. None in older records."""
    seed: Text
    """Secret seed of the grade; text, so that no digit is lost."""
    cases: tuple[CaseResult, ...] = Field(default=(), max_length=MOST_LISTED)
    """Correctness cases in the order in which they were run."""
    shrunk: ShrunkCase | None = None
    """The smallest case found that fails."""
    build: Build | None = None
    """How it was compiled; None if it was not."""
    measurements: tuple[Measurement, ...] = Field(default=(), max_length=1000)
    """Times by shape."""
    score: Score | None = None
    """The score over all shapes."""
    conditions: Conditions | None = None
    """What the card was like meanwhile; None on a CPU."""
    profile: Profile | None = None
    """What a profiler says, where it was asked."""
    output: Text = ""
    """What the submission printed: untrusted, capped."""
    claims: Notes = ()
    """What a problem in another format leaves weaker than a package does: `shapes: fixed`."""
    notes: Notes = ()
    """What else a reader should know; words of the machine that graded."""
    environment: Environment
    """What else the times depend on."""
    origin: Text = ""
    """Whose word it is, where it was imported; empty for what was graded here."""

    @property
    def accepted(self) -> bool:
        """Whether the verdict is ACCEPTED."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def failed_case(self) -> CaseResult | None:
        """The first case that did not pass, which is the one to report."""
        return next((case for case in self.cases if not case.passed), None)

    @property
    def smallest_failed_case(self) -> CaseResult | None:
        """The smallest case that was found to fail, else the first that did not pass."""
        return self.shrunk.case if self.shrunk else self.failed_case

    @property
    def sol_fraction(self) -> float | None:
        """Geometric mean of the shapes' parts of the speed of light; None if one has none."""
        parts = [each.sol_fraction for each in self.measurements]
        known = [part for part in parts if part is not None]
        if not known or len(known) < len(parts):
            return None
        return math.exp(math.fsum(map(math.log, known)) / len(known))

    @model_validator(mode="before")
    @classmethod
    def _from_earlier(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("schema") == 1:
            return from_schema_1(data)
        return data

    @model_validator(mode="after")
    def _verdict_decides(self) -> Self:
        if self.accepted:
            if not self.cases:
                raise ValueError("an accepted result has at least one case")
            if self.failed_case is not None or self.shrunk is not None:
                raise ValueError("an accepted result cannot have a failed case")
        else:
            if self.measurements or self.score:
                raise ValueError(f"a {self.verdict} result has neither measurements nor a score")
            if not self.message:
                raise ValueError(f"a {self.verdict} result needs a message")
        if self.reason is not None and self.verdict is not Verdict.INVALID_SUBMISSION:
            raise ValueError(f"a {self.verdict} result has not the reason {self.reason}")
        if self.verdict is Verdict.WRONG_ANSWER and self.failed_case is None:
            raise ValueError("a WRONG_ANSWER result needs the case that failed")
        if bool(self.measurements) != (self.score is not None):
            raise ValueError("measurements and score come together")
        if self.language != self.solution.language:
            raise ValueError(f"language: {self.language!r} is not {self.solution.language!r}")
        return self
