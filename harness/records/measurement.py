"""The parts of a result that say how fast it is: times, scores, and what the card was like.

All times are in seconds.
"""

import math
from functools import partial
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from harness.records.fields import (
    LEAST_S,
    MOST_COUNT,
    MOST_S,
    Counted,
    Created,
    Kernels,
    Name,
    Overhead,
    Positive,
    Record,
    Samples,
    Text,
    Work,
)

LEAST_RATIO, MOST_RATIO = 1e-18, 1e18
"""A speed-up lies between these, so that ratios of speed-ups can be told, and drawn."""


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

    @property
    def relative_half_width(self) -> float:
        """Half the interval's width as a part of its value, by the upper side."""
        return self.high / self.value - 1

    def times(self, factor: float) -> Self:
        """The interval of the value times a positive number."""
        return self._of(self.value * factor, self.low * factor, self.high * factor)

    def plus(self, number: float) -> Self:
        """The interval of the value plus a number."""
        return self._of(self.value + number, self.low + number, self.high + number)

    def inverse(self) -> Self:
        """The interval of one over the value, which is positive."""
        high = 1 / self.low if self.low > 0 else math.inf
        return self._of(1 / self.value, 1 / self.high, high)

    @classmethod
    def of_log(cls, middle: float, half: float) -> Self:
        """The interval of a value whose natural logarithm is ``middle`` ± ``half``."""
        return cls._of(math.exp(middle), math.exp(middle - half), math.exp(middle + half))

    @classmethod
    def _of(cls, value: float, low: float, high: float) -> Self:
        return cls(value=value, low=low, high=high)


def _positive(interval: Interval, least: float, most: float) -> Interval:
    if not least <= interval.value <= most:
        raise ValueError(f"{interval.value} is not a positive number from {least:g} to {most:g}")
    return interval


def _finite(interval: Interval) -> Interval:
    if not abs(interval.value) <= MOST_S:
        raise ValueError(f"{interval.value} is no time of at most {MOST_S:g} s")
    return interval


Time = Annotated[Interval, AfterValidator(partial(_positive, least=LEAST_S, most=MOST_S))]
"""Seconds that are divided by."""
Ratio = Annotated[Interval, AfterValidator(partial(_positive, least=LEAST_RATIO, most=MOST_RATIO))]
"""A time over another."""
Difference = Annotated[Interval, AfterValidator(_finite)]
"""Seconds that were told as a difference, and may come out below zero."""


class BaselineTime(Record):
    """One shape against a baseline that the score is not over."""

    baseline: Name
    """Which baseline."""
    time_s: Time
    """Seconds per call of the baseline."""
    speedup: Ratio
    """The baseline's time over the submission's."""
    kernels: Kernels = None
    """Kernels that a call of the baseline launches."""
    samples_s: Samples
    """Seconds per call of the baseline, one per block."""
    submission_samples_s: Samples
    """Seconds per call of the submission in the same blocks."""


class Clocks(Record):
    """The card's clocks right after the batches of both programs, lowest and highest, MHz."""

    sm_mhz: tuple[Counted, Counted]
    """SM clock after the submission's batches."""
    baseline_sm_mhz: tuple[Counted, Counted]
    """SM clock after the baseline's."""
    memory_mhz: tuple[Counted, Counted]
    """Memory clock after the submission's."""
    baseline_memory_mhz: tuple[Counted, Counted]
    """Memory clock after the baseline's."""
    blocks: Counted
    """Blocks that count in which both were read."""
    blocks_apart: Counted
    """Those of them in which both did not see the same, and no power cap explains it."""


class Measurement(Record):
    """One benchmark shape: time per call of the submission and of the baseline, and their ratio."""

    spec: Text
    """Sizes and scalars of the shape, as ``--case`` takes them."""
    time_s: Time
    """Seconds per call of the submission."""
    baseline_s: Time
    """Seconds per call of the baseline, which is the one that the score names."""
    baseline_by_itself_s: Time | None = None
    """The same when the submission had ended; None for shapes where it was not timed again."""
    speedup: Ratio
    """The baseline's time over the submission's."""
    calls_per_batch: int = Field(ge=1, le=MOST_COUNT)
    """Calls of the submission in one batch."""
    baseline_calls_per_batch: Counted | None = None
    """Calls of the baseline in one batch."""
    captured: bool
    """The submission's calls were recorded into one graph."""
    kernels: Kernels = None
    """Kernels that a call of the submission launches, as the runner says."""
    copied_outputs: Counted | None = None
    """Outputs of a call that were returned and copied into place, as the runner says."""
    baseline_kernels: Kernels = None
    """Kernels that a call of the baseline launches."""
    launch_overhead_s: Overhead
    """Seconds that a batch of the submission costs beyond its calls."""
    baseline_launch_overhead_s: Overhead | None = None
    """Seconds that a batch of the baseline costs beyond its calls."""
    samples_s: Samples
    """Seconds per call of the submission, one per block, less the launch overhead."""
    baseline_samples_s: Samples
    """The same of the baseline, in the same blocks."""
    flops: Work | None = None
    """Floating-point operations of a call; None where the problem does not say."""
    bytes: Work | None = None
    """Bytes that a call must read and write; None where the problem does not say."""
    isolated_s: Difference | None = None
    """Seconds of a call in a batch of its own; None where it was not timed."""
    overlap_looks: Counted | None = None
    """Looks at calls at work that would have shown a call that reads its inputs too early."""
    cached_ahead: float | None = Field(default=None, ge=-MOST_COUNT, le=MOST_COUNT)
    """Part of a call's inputs that was in the cache before its turn, as far as looks could tell."""
    sol_time_s: Positive | None = None
    """Seconds that the device needs at least, at the speed of light; None where not known."""
    clocks: Clocks | None = None
    """The card's clocks beside the score's baseline; None where they were not read."""
    other_baselines: tuple[BaselineTime, ...] = ()
    """Times against further baselines, where they were asked for."""

    @property
    def sol_fraction(self) -> float | None:
        """Part of the speed of light that the submission reaches; near 1 at most."""
        return None if self.sol_time_s is None else self.sol_time_s / self.time_s.value

    @property
    def sol_score(self) -> float | None:
        """How much of the way from the baseline to the speed of light is made, in (0, 1].

        S = 1 / (1 + (T - T_light) / (T_baseline - T_light)): 1/2 at the baseline's time, 1 at the
        speed of light or beyond. None where the baseline is as fast as light itself.
        """
        if self.sol_time_s is None or self.baseline_s.value <= self.sol_time_s:
            return None
        behind = max(0.0, self.time_s.value - self.sol_time_s)
        return 1 / (1 + behind / (self.baseline_s.value - self.sol_time_s))


class BaselineScore(Record):
    """Geometric mean of the speed-ups over a baseline that decides no rank.

    One with a date, ``recorded_at``, was not timed beside the submission: its score was looked up
    in the record ``result``, and both are over the same first baseline.
    """

    baseline: Name
    speedup: Ratio
    recorded_at: Created | None = None
    result: Text = ""


class Score(Record):
    """The score of a submission over all shapes."""

    baseline: Name
    """What the speed-up is over."""
    speedup: Ratio
    """Geometric mean of the speed-ups of all shapes."""
    time_s: Positive
    """Geometric mean of the seconds per call."""
    ranked: bool
    """The score may have a rank on a board."""
    unranked_reason: Text = ""
    """Why it may not; empty if it may."""
    other_baselines: tuple[BaselineScore, ...] = ()
    """Scores over further baselines, which decide no rank."""

    @model_validator(mode="after")
    def _ranked_decides(self) -> Self:
        if self.ranked == bool(self.unranked_reason):
            raise ValueError("a score is ranked, or it has a reason why not")
        if self.ranked and not (self.speedup.low > 0 and math.isfinite(self.speedup.high)):
            raise ValueError("a score without a finite interval cannot be ranked")
        return self


class Conditions(Record):
    """What the card was like while times were taken, over all readings.

    What the card does not tell is 0, or empty.
    """

    clock_mhz: tuple[Counted, Counted]
    """The SM clock, lowest and highest while the card was at work."""
    temperature_c: int = Field(ge=-300, le=MOST_COUNT)
    """The highest temperature seen, degrees Celsius."""
    power_w: float = Field(ge=0, le=1e9)
    """The highest power seen, watts."""
    throttle: tuple[Text, ...]
    """Why clocks were held down, sorted."""
    other_processes: Counted
    """Processes of other programs on the card at once, at most."""
    readings: Counted
    """How often the card was read."""


def describe_conditions(conditions: Conditions) -> str:
    """The conditions in one short line; what is not known is left out."""
    low, high = conditions.clock_mhz
    parts = []
    if high:
        parts.append(f"{high} MHz" if low == high else f"{low}–{high} MHz")
    if conditions.temperature_c:
        parts.append(f"{conditions.temperature_c} °C")
    if conditions.power_w:
        parts.append(f"{conditions.power_w:.0f} W")
    parts += conditions.throttle
    if conditions.other_processes:
        parts.append(describe_other_processes(conditions.other_processes))
    return ", ".join(parts)


def describe_other_processes(count: int) -> str:
    """``2 other processes``."""
    return "1 other process" if count == 1 else f"{count} other processes"
