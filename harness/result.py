r"""The one record that a grade leaves behind, and the only thing `harness` and `leaderboard` share.

Frozen, versioned, and readable as JSON (every key: ``docs/result.md``). Times are in seconds,
memory in bytes. The verdict decides which fields exist: only an accepted result has measurements
and a score, every other one has a message, a wrong answer has the case that shows it.

Text that comes from a submission (names, logs, output) is kept as it came and is not safe to
print: :mod:`harness.report.text` makes it so. Only lone surrogates, which no UTF-8 file can hold,
are escaped here (``\udc80``), so that a strange file name cannot lose a result.
"""

import json
import math
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from typing_extensions import TypeAliasType

SCHEMA: Literal[1] = 1


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


def _storable(value: object) -> object:
    """Escape lone surrogates; everything else is left to the field's own check."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


Text = Annotated[str, BeforeValidator(_storable)]
Name = Annotated[str, BeforeValidator(_storable), Field(min_length=1)]
Created = Annotated[AwareDatetime, AfterValidator(_utc)]
Count = Annotated[int, Field(ge=0)]
Kernels = Annotated[float, Field(ge=0, le=1e6)] | None
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Record(BaseModel):
    """Base of all parts: immutable, no unknown keys, NaN and infinity survive JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", populate_by_name=True
    )


class Element(Record):
    """One element of an output that is off by more than is allowed.

    Integers are kept as such, to the last digit. The imaginary parts of complex numbers have keys
    of their own, which are ``None`` for all other outputs.
    """

    index: tuple[int, ...]
    expected: int | float
    got: int | float
    allowed: float
    expected_imag: float | None = None
    got_imag: float | None = None


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
    seconds: float | None = None
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
    seconds: float
    tensors: tuple[TensorValues, ...] = ()

    @model_validator(mode="after")
    def _fails(self) -> Self:
        if self.case.passed:
            raise ValueError("a case that passed is no smaller failure")
        return self


class Occupancy(Record):
    """Warps that a multiprocessor can hold at once, as a part of what it holds at most."""

    threads: int = Field(ge=1, description="per block")
    fraction: float = Field(gt=0, le=1)
    limit: Literal["warps", "blocks", "registers", "shared memory"]


class KernelResources(Record):
    """What the compiler said about one kernel, and the ``occupancy`` that follows from it.

    ``threads`` are those of a block where the build knows them; where it does not, the occupancy is
    that of some usual sizes. Empty for an architecture whose limits are not known.
    """

    name: Text
    registers: Count
    shared_bytes: Count = 0
    spill_store_bytes: Count = 0
    spill_load_bytes: Count = 0
    threads: Count | None = None
    occupancy: tuple[Occupancy, ...] = ()


class Build(Record):
    """How a submission was compiled, and how it is called: ``contract`` names its entry point.

    ``log`` is untrusted text, capped.
    """

    seconds: float
    cached: bool
    target: Text
    log: Text = ""
    kernels: tuple[KernelResources, ...] = ()
    contract: Literal["solution", "solve", "custom_kernel", "ModelNew"] = "solution"


class Interval(Record):
    """A value with its 95 % confidence interval; a bound that is not known is infinite."""

    value: float
    low: float
    high: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        # The bounds come out of exp(log(value) ± width): allow for their rounding.
        slack = 1e-9 * abs(self.value)
        if not self.low - slack <= self.value <= self.high + slack:
            raise ValueError(f"{self.value} is not between {self.low} and {self.high}")
        return self


class BaselineTime(Record):
    """One shape against a baseline that the score is not over.

    ``time_s`` and ``samples_s`` are the baseline's; ``submission_samples_s`` are the submission's
    in the same blocks. ``kernels`` are those that the baseline launches per call.
    """

    baseline: Name
    time_s: Interval
    speedup: Interval
    kernels: Kernels = None
    samples_s: tuple[float, ...]
    submission_samples_s: tuple[float, ...]


class Measurement(Record):
    """One benchmark shape: time per call of the submission and of the baseline, and their ratio.

    ``samples_s`` and ``baseline_samples_s`` are the times per call, one per block, less what a
    batch costs beyond its calls: ``overhead_s`` and ``baseline_overhead_s`` a batch. ``alone_s``
    is how long a call takes that is not one of many; ``light_s`` the least that the device needs
    for the bytes and operations of a call. Both are None where they are not known. The baseline is
    the one that the score names; ``others`` are further ones, where they were asked for. ``copied``
    is how many outputs of a call were returned and copied into place, as the runner says.
    """

    spec: Text
    time_s: Interval
    baseline_s: Interval
    speedup: Interval
    calls_per_batch: int = Field(ge=1)
    captured: bool
    kernels: Kernels = None
    copied: Count | None = None
    baseline_kernels: Kernels = None
    overhead_s: float
    baseline_overhead_s: float | None = None
    samples_s: tuple[float, ...]
    baseline_samples_s: tuple[float, ...]
    flops: float | None = None
    bytes: float | None = None
    alone_s: Interval | None = None
    light_s: Positive | None = None
    others: tuple[BaselineTime, ...] = ()

    @property
    def of_light(self) -> float | None:
        """Part of the speed of light that the submission reaches; near 1 at most."""
        return None if self.light_s is None else self.light_s / self.time_s.value

    @property
    def light_score(self) -> float | None:
        """How much of the way from the baseline to the speed of light is made, in (0, 1].

        S = 1 / (1 + (T - T_light) / (T_baseline - T_light)): 1/2 at the baseline's time, 1 at the
        speed of light or beyond. None where the baseline is as fast as light itself.
        """
        if self.light_s is None or self.baseline_s.value <= self.light_s:
            return None
        behind = max(0.0, self.time_s.value - self.light_s)
        return 1 / (1 + behind / (self.baseline_s.value - self.light_s))

    @model_validator(mode="after")
    def _positive(self) -> Self:
        for key in ("time_s", "baseline_s", "speedup"):
            value = getattr(self, key).value
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{key}: {value} is not a positive number")
        return self


class BaselineScore(Record):
    """Geometric mean of the speed-ups over a baseline that decides no rank.

    One with a date, ``recorded``, was not timed beside the submission: its score was looked up, and
    both are over the same first baseline. ``result`` is the id of that record.
    """

    baseline: Name
    speedup: Interval
    recorded: Created | None = None
    result: Text = ""


class Score(Record):
    """Geometric mean of the speed-ups over the named baseline; ``others`` are over further ones."""

    baseline: Name
    speedup: Interval
    time_s: Positive = Field(description="geometric mean of the times per call")
    ranked: bool
    unranked_reason: Text = ""
    others: tuple[BaselineScore, ...] = ()

    @model_validator(mode="after")
    def _ranked_decides(self) -> Self:
        if self.ranked == bool(self.unranked_reason):
            raise ValueError("a score is ranked, or it has a reason why not")
        if not (self.speedup.value > 0 and math.isfinite(self.speedup.value)):
            raise ValueError(f"speedup: {self.speedup.value} is not a positive number")
        if self.ranked and not (self.speedup.low > 0 and math.isfinite(self.speedup.high)):
            raise ValueError("a score without a finite interval cannot be ranked")
        return self


class Conditions(Record):
    """What the card was like while times were taken, over all readings.

    ``clock_mhz`` is the SM clock, lowest and highest while the card was at work;
    ``temperature_c`` and ``power_w`` are the highest seen; ``throttle`` names, sorted, why clocks
    were held down; ``others`` is how many processes of other programs were on the card at once, at
    most. What the card does not tell is 0, or empty.
    """

    clock_mhz: tuple[Count, Count]
    temperature_c: int
    power_w: float
    throttle: tuple[Text, ...]
    others: Count
    readings: Count


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


class KernelProfile(Record):
    """What Nsight Compute saw of one launch; None for what it did not tell.

    ``read_bytes`` and ``written_bytes`` are those of the card's memory (DRAM). ``sm`` and
    ``memory`` are the parts reached of the highest throughput of the multiprocessors and of the
    memory system, ``occupancy`` the warps that were there over the most that could be.
    """

    name: Text
    grid: Text
    block: Text
    duration_s: Amount = None
    read_bytes: Amount = None
    written_bytes: Amount = None
    sm: Amount = None
    memory: Amount = None
    occupancy: Amount = None


class Profile(Record):
    """The launches of one call; or, if not ``one_call``, those of the call before it as well."""

    spec: Text
    kernels: tuple[KernelProfile, ...] = Field(min_length=1)
    one_call: bool


class ProblemRef(Record):
    """Which problem, at which version."""

    slug: Name
    title: Text
    hash: Name


Found = Literal["fence", "unclosed fence", "tag", "bare"]


class Generation(Record):
    """The raw output of a language model that a submission was taken from.

    What its header said (empty or None: nothing), what was cut as reasoning, and how the code was
    found in the rest: block number ``block`` of the ``blocks`` of its kind, from line ``line`` on.
    """

    model: Text = ""
    problem: Text = ""
    generated: Text = Field(default="", description="ISO 8601, or as it stands there")
    tokens: Count | None = None
    token_limit: Count | None = None
    finish: Text = ""
    reasoning_lines: Count = 0
    reasoning_closed: bool = True
    found: Found | None = None
    info: Text = ""
    block: Count = 0
    blocks: Count = 0
    line: Count = 0


class SolutionRef(Record):
    """Which submission. ``path`` is as the user gave it."""

    author: Text
    name: Text
    language: Text
    hash: Text
    path: Text
    generation: Generation | None = None


class DeviceRef(Record):
    """Where it ran. CPU results are never mixed with a GPU's board."""

    kind: Literal["cuda", "cpu"]
    name: Text


class Environment(Record):
    """What else a time depends on. Absent parts are empty."""

    harness: Name
    python: Text
    platform: Text
    torch: Text = ""
    triton: Text = ""
    driver: Text = ""
    toolkit: Text = ""
    sandbox: Text = ""


class Result(Record):
    """The whole outcome of grading one submission.

    Raises:
        pydantic.ValidationError: (a ValueError) the fields do not belong together.
    """

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")
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
    def of_light(self) -> float | None:
        """Geometric mean of the shapes' parts of the speed of light; None if one has none."""
        parts = [each.of_light for each in self.measurements]
        known = [part for part in parts if part is not None]
        if not known or len(known) < len(parts):
            return None
        return math.exp(math.fsum(map(math.log, known)) / len(known))

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
        """One JSON object, keys as documented in docs/result.md."""
        return self.model_dump_json(by_alias=True, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Raises:
            ValueError: not such a record, or one of another schema version.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            found = data.get("schema") if isinstance(data, dict) else type(data).__name__
            raise ValueError(f"result schema {found!r}, this harness reads {SCHEMA}")
        return cls.model_validate(data)
