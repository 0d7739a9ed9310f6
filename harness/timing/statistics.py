"""Intervals over blocks, in the log domain where ratios are meant.

A batch is never faster than the device, but now and then slower by what the host adds: to continue
a stopped process takes 0.15 ms longer in a third of the cases. So a time is the lower quartile over
blocks, and the ratio of two times that of their lower quartiles, with an interval from resampling
blocks (Efron, *Bootstrap methods: another look at the jackknife*, Ann. Statist. 7(1), 1979),
widened by Student's t for the few blocks there are. Blocks are resampled whole, both times
together, so what drifts with both falls out.
"""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from harness.records.measurement import Interval

T = TypeVar("T")

_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Student's t, two-sided 95 %, for 1 … 30 degrees of freedom."""
_RESAMPLES = 200
MIN_S = 1e-12
"""No call takes less, whatever the clock reads."""


def t95(degrees: int) -> float:
    """Quantile of Student's t for a two-sided 95 % interval.

    Beyond the table by the expansion of Abramowitz and Stegun, 26.7.5: four digits are right.
    """
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z = 1.959964  # the normal distribution's
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def lower_quartile(values: Sequence[float]) -> float:
    """The 25 % quantile, by linear interpolation; at least one value."""
    ordered = sorted(values)
    place = (len(ordered) - 1) / 4
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


class Timed(NamedTuple):
    """Times of a batch and of a null batch on the same buffers; seconds for each call."""

    batch_s: float
    null_batch_s: float = 0.0


def net(times: Sequence[Timed]) -> float:
    """Seconds that a call takes without the launch overhead of its batch; positive.

    The lower quartile of the batches less that of the null batches: these are late as often, and
    which of both was late in a block is chance.
    """
    return _net(*zip(*times, strict=True))


def _net(batches: Sequence[float], null_batches: Sequence[float]) -> float:
    return max(lower_quartile(batches) - lower_quartile(null_batches), MIN_S)


def time_interval(times: Sequence[Timed]) -> Interval:
    """Seconds of a call with their 95 % interval; infinite for a single block."""
    return ratio_interval(times, [Timed(1.0)] * len(times))


def ratio_interval(above: Sequence[Timed], below: Sequence[Timed]) -> Interval:
    """Ratio of two programs' times, block by block, with its 95 % interval.

    For a single block the bounds are infinite and zero.
    """

    def log_ratio(chosen: Sequence[tuple[float, float, float, float]]) -> float:
        tops, top_nulls, bottoms, bottom_nulls = zip(*chosen, strict=True)
        return math.log(_net(tops, top_nulls) / _net(bottoms, bottom_nulls))

    middle, half = _resampled(log_ratio, [(*a, *b) for a, b in zip(above, below, strict=True)])
    return Interval.of_log(middle, half)


def difference_interval(minuends: Sequence[float], subtrahends: Sequence[float]) -> Interval:
    """Difference of the lower quartiles of paired times, with its 95 % interval.

    For a single block the bounds are infinite.
    """

    def difference(chosen: Sequence[tuple[float, float]]) -> float:
        first, second = zip(*chosen, strict=True)
        return lower_quartile(first) - lower_quartile(second)

    middle, half = _resampled(difference, list(zip(minuends, subtrahends, strict=True)))
    return Interval(value=middle, low=middle - half, high=middle + half)


def _resampled(
    statistic: Callable[[Sequence[T]], float], blocks: Sequence[T]
) -> tuple[float, float]:
    """The statistic of all blocks, and half the width of its 95 % interval."""
    middle = statistic(blocks)
    if len(blocks) < 2:
        return middle, math.inf
    source = random.Random(len(blocks))  # noqa: S311 - the same blocks give the same interval
    drawn = [statistic(source.choices(blocks, k=len(blocks))) for _ in range(_RESAMPLES)]
    return middle, t95(len(blocks) - 1) * statistics.stdev(drawn)


def geometric_mean(parts: Sequence[Interval]) -> Interval:
    """Combine independent ratios: mean of logs, standard errors added in quadrature."""
    middle = statistics.fmean(math.log(part.value) for part in parts)
    halves = [math.log(part.high / part.low) / 2 for part in parts]
    half = math.sqrt(sum(h * h for h in halves)) / len(parts)
    return Interval.of_log(middle, half)
