"""The parts of a result that say how fast it is: times, scores, and what the card was like.

All times are in seconds.
"""

import math
from typing import Self

from pydantic import Field, model_validator

from harness.records.fields import Count, Created, Kernels, Name, Positive, Record, Text


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
    batch costs beyond its calls: ``launch_overhead_s`` and ``baseline_launch_overhead_s`` a batch. ``isolated_s``
    is how long a call takes that is not one of many; ``sol_time_s`` the least that the device needs
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
    copied_outputs: Count | None = None
    baseline_kernels: Kernels = None
    launch_overhead_s: float
    baseline_launch_overhead_s: float | None = None
    samples_s: tuple[float, ...]
    baseline_samples_s: tuple[float, ...]
    flops: float | None = None
    bytes: float | None = None
    isolated_s: Interval | None = None
    sol_time_s: Positive | None = None
    other_baselines: tuple[BaselineTime, ...] = ()

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
    recorded_at: Created | None = None
    result: Text = ""


class Score(Record):
    """Geometric mean of the speed-ups over the named baseline; ``others`` are over further ones."""

    baseline: Name
    speedup: Interval
    time_s: Positive = Field(description="geometric mean of the times per call")
    ranked: bool
    unranked_reason: Text = ""
    other_baselines: tuple[BaselineScore, ...] = ()

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
    other_processes: Count
    readings: Count
