r"""The one record that a grade leaves behind, and the only thing `harness` and `leaderboard` share.

Frozen, versioned, and readable as JSON (every key: ``docs/reference/result.md``). Times are in
seconds, memory in bytes. The verdict decides which fields exist: only an accepted result has
measurements and a score, every other one has a message, a wrong answer has the case that shows it.

Text that comes from a submission (names, logs, output) is kept as it came and is not safe to
print: :mod:`harness.text.plain` makes it so. Only lone surrogates, which no UTF-8 file can hold,
are escaped here (``\udc80``), so that a strange file name cannot lose a result.
"""

import json
import math
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from harness.records.build import Build
from harness.records.cases import CaseResult, ShrunkCase
from harness.records.fields import Created, Name, Record, Text, require_schema
from harness.records.measurement import Conditions, Measurement, Score
from harness.records.profile import Profile
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.upgrade import from_schema_1

SCHEMA: Literal[2] = 2


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


class Result(Record):
    """The whole outcome of grading one submission.

    Raises:
        pydantic.ValidationError: (a ValueError) the fields do not belong together.
    """

    schema_version: Literal[2] = Field(default=SCHEMA, alias="schema")
    id: Name
    created: Created
    problem: ProblemRef
    solution: SolutionRef
    language: Text
    dtype: Text
    device: DeviceRef
    verdict: Verdict
    reason: Reason | None = None
    message: Text = ""
    reproduce: Text = ""
    seed: Text
    cases: tuple[CaseResult, ...] = ()
    shrunk: ShrunkCase | None = None
    build: Build | None = None
    measurements: tuple[Measurement, ...] = ()
    score: Score | None = None
    conditions: Conditions | None = None
    profile: Profile | None = None
    output: Text = Field(default="", description="what the submission printed: untrusted, capped")
    notes: tuple[Text, ...] = ()
    environment: Environment

    @property
    def accepted(self) -> bool:
        """Whether the verdict is ACCEPTED."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def failed_case(self) -> CaseResult | None:
        """The first case that did not pass, which is the one to report."""
        return next((case for case in self.cases if not case.passed), None)

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

    def to_json(self, indent: int | None = None) -> str:
        """One JSON object, keys as documented in docs/reference/result.md."""
        return self.model_dump_json(by_alias=True, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote, or wrote before it (schema 1).

        Raises:
            ValueError: not such a record, or one of another schema version.
        """
        data = json.loads(text)
        require_schema(data, 1, SCHEMA, what="result")
        return cls.model_validate(data)
