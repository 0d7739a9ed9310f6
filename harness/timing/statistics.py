"""Intervals over blocks, in the log domain where ratios are meant.

A batch is never faster than the device, but now and then slower by what the host adds: to continue
a stopped process takes 0.15 ms longer in a third of the cases. So a time is the lower quartile over
blocks, and the ratio of two times that of their lower quartiles, with an interval from resampling
blocks (Efron, *Bootstrap methods: another look at the jackknife*, Ann. Statist. 7(1), 1979),
widened by Student's t for the few blocks there are. Blocks are resampled whole, both times
together, so what drifts with both falls out.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.records.measurement import Interval

_Floats = NDArray[np.float64]

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
    return float(_lower_quartiles(np.asarray(values)[:, None])[0])


def _lower_quartiles(values: _Floats) -> _Floats:
    """Those of all columns: (…, values, columns) → (…, columns)."""
    ordered = np.sort(values, axis=-2)
    last = ordered.shape[-2] - 1
    below, part = divmod(last / 4, 1)
    low, high = ordered[..., int(below), :], ordered[..., min(int(below) + 1, last), :]
    return np.asarray(low + part * (high - low))


class Timed(NamedTuple):
    """Times of a batch and of a null batch on the same buffers; seconds for each call."""

    batch_s: float
    null_batch_s: float = 0.0


def net(times: Sequence[Timed]) -> float:
    """Seconds that a call takes without the launch overhead of its batch; positive.

    The lower quartile of the batches less that of the null batches: these are late as often, and
    which of both was late in a block is chance.
    """
    return float(_net(_lower_quartiles(np.array(times, np.float64))))


def _net(quartiles: _Floats) -> _Floats:
    """What the lower quartiles of batches and of null batches, (…, 2), come to."""
    return np.maximum(quartiles[..., 0] - quartiles[..., 1], MIN_S)


def time_interval(times: Sequence[Timed]) -> Interval:
    """Seconds of a call with their 95 % interval; infinite for a single block."""
    return ratio_interval(times, [Timed(1.0)] * len(times))


def ratio_interval(above: Sequence[Timed], below: Sequence[Timed]) -> Interval:
    """Ratio of two programs' times, block by block, with its 95 % interval.

    For a single block the bounds are infinite and zero.
    """

    def log_ratio(blocks: _Floats) -> _Floats:
        quartiles = _lower_quartiles(blocks)
        return np.log(_net(quartiles[..., :2]) / _net(quartiles[..., 2:]))

    middle, half = _resampled(log_ratio, [(*a, *b) for a, b in zip(above, below, strict=True)])
    return Interval.of_log(middle, half)


def difference_interval(minuends: Sequence[float], subtrahends: Sequence[float]) -> Interval:
    """Difference of the lower quartiles of paired times, with its 95 % interval.

    For a single block the bounds are infinite.
    """

    def difference(pairs: _Floats) -> _Floats:
        quartiles = _lower_quartiles(pairs)
        return np.asarray(quartiles[..., 0] - quartiles[..., 1])

    middle, half = _resampled(difference, list(zip(minuends, subtrahends, strict=True)))
    return Interval(value=middle, low=middle - half, high=middle + half)


def _resampled(
    statistic: Callable[[_Floats], _Floats], blocks: Sequence[tuple[float, ...]]
) -> tuple[float, float]:
    """The statistic of all blocks, and half the width of its 95 % interval.

    The statistic is of many sets of blocks at once: (…, blocks, times) → (…).
    """
    times = np.array(blocks, np.float64)
    middle = float(statistic(times))
    if len(times) < 2:
        return middle, math.inf
    drawn = statistic(times[_draws(len(times))])
    return middle, t95(len(times) - 1) * float(np.std(drawn, ddof=1))


@lru_cache
def _draws(count: int) -> NDArray[np.int64]:
    """Which of ``count`` blocks are in each resample; the same blocks give the same interval."""
    return np.random.default_rng(count).integers(count, size=(_RESAMPLES, count))


def geometric_mean(parts: Sequence[Interval]) -> Interval:
    """Combine independent ratios: mean of logs, standard errors added in quadrature."""
    middle = statistics.fmean(math.log(part.value) for part in parts)
    halves = [math.log(part.high / part.low) / 2 for part in parts]
    half = math.sqrt(sum(h * h for h in halves)) / len(parts)
    return Interval.of_log(middle, half)
