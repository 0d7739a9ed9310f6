import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.measurement import Interval
from harness.timing.statistics import (
    Timed,
    difference_interval,
    geometric_mean,
    lower_quartile,
    net,
    ratio_interval,
    t95,
    time_interval,
)

positive = st.floats(1e-9, 1e3)


def timed(batches: Sequence[float]) -> list[Timed]:
    return [Timed(batch) for batch in batches]


def _t_density(x: float, degrees: int) -> float:
    logs = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    scale = math.exp(logs) / math.sqrt(degrees * math.pi)
    return scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2)


def _within(limit: float, degrees: int, steps: int = 4000) -> float:
    """Probability of |t| <= limit: Simpson's rule over the density."""
    width = limit / steps
    ends = _t_density(0.0, degrees) + _t_density(limit, degrees)
    odd = sum(_t_density(i * width, degrees) for i in range(1, steps, 2))
    even = sum(_t_density(i * width, degrees) for i in range(2, steps, 2))
    return 2 * width / 3 * (ends + 4 * odd + 2 * even)


@pytest.mark.parametrize("degrees", range(1, 31))
def test_the_table_holds_95_per_cent(degrees: int) -> None:
    assert _within(t95(degrees), degrees) == pytest.approx(0.95, abs=1e-4)


def test_t95_beyond_the_table_holds_95_per_cent() -> None:
    for degrees in (31, 39, 40, 100, 1000):
        assert _within(t95(degrees), degrees) == pytest.approx(0.95, abs=1e-4)
        assert t95(degrees) < t95(30)


@given(st.lists(positive, min_size=1, max_size=50))
def test_the_lower_quartile_is_a_quarter_of_the_way_up(values: list[float]) -> None:
    quartile = lower_quartile(values)
    assert min(values) <= quartile <= max(values)
    assert quartile == pytest.approx(float(np.quantile(values, 0.25)))


@given(st.lists(positive, min_size=2, max_size=50))
def test_an_interval_holds_its_value(values: list[float]) -> None:
    interval = time_interval(timed(values))
    assert interval.low <= interval.value * (1 + 1e-9)
    assert interval.value <= interval.high * (1 + 1e-9)
    assert interval.value == pytest.approx(lower_quartile(values))


def test_a_single_block_says_nothing_of_its_interval() -> None:
    interval = ratio_interval(timed([3.0]), timed([2.0]))
    assert (interval.value, interval.low, interval.high) == (1.5, 0.0, math.inf)
    with pytest.raises(ValueError):
        ratio_interval(timed([1.0]), timed([1.0, 2.0]))


@given(st.lists(positive, min_size=2, max_size=20), st.floats(0.01, 100))
def test_units_do_not_matter(values: list[float], unit: float) -> None:
    one = time_interval(timed(values))
    other = time_interval(timed([v * unit for v in values]))
    assert other.value == pytest.approx(one.value * unit)
    assert other.high / other.low == pytest.approx(one.high / one.low, rel=1e-6)


def test_batches_that_are_late_now_and_then_do_not_count() -> None:
    steady = [1.0, 1.001, 0.999, 1.0005, 0.9995, 1.0]
    late = [*steady[:4], 1.3, 1.2]
    assert time_interval(timed(late)).value == pytest.approx(1.0, rel=2e-3)
    assert ratio_interval(timed(steady), timed(late)).value == pytest.approx(1.0, rel=2e-3)


def test_a_drift_of_both_falls_out_of_the_ratio() -> None:
    times = [1.0, 1.02, 1.04, 1.06, 1.08, 1.1]
    interval = ratio_interval(timed([2 * t for t in times]), timed(times))
    assert (interval.low, interval.high) == pytest.approx((2.0, 2.0))


def test_the_difference_is_robust_against_late_batches() -> None:
    steady = [280e-6, 282e-6, 279e-6, 281e-6, 280e-6, 283e-6, 281e-6, 280e-6]
    late = [t + 40e-6 for t in steady * 3]
    late[2::5] = [600e-6] * 5
    interval = difference_interval(late, steady * 3)
    assert interval.value == pytest.approx(40e-6, abs=2e-6)
    assert interval.low < 40e-6 < interval.high < 45e-6
    single = difference_interval([3.0], [2.0])
    assert (single.value, single.low, single.high) == (1.0, -math.inf, math.inf)


OVERHEAD_S = 2e-4
"""What a batch costs beyond its calls."""


def _lateness(source: np.random.Generator, count: int) -> np.ndarray:
    """A host that is late by 0.01 ms as a rule and by 0.16 ms in a third of the cases; seconds.

    As was seen on an H200.
    """
    late = source.gamma(2, 6e-6, count)
    return late + np.where(source.random(count) < 0.35, source.normal(160e-6, 30e-6, count), 0)


def _blocks(
    source: np.random.Generator, blocks: int, batch_s: float, drift: float
) -> tuple[list[Timed], list[Timed]]:
    """Two programs that take ``batch_s`` each, in turns, on a device whose clock drifts.

    AR(1) with coefficient 0.9 from batch to batch, 0.05 % of noise, and the host's lateness.
    """
    steps = source.normal(0, drift, 2 * blocks)
    logs = [0.0]
    for step in steps[1:]:
        logs.append(0.9 * logs[-1] + step)
    times = batch_s * np.exp(np.array(logs) + source.normal(0, 5e-4, 2 * blocks))
    times += OVERHEAD_S + _lateness(source, 2 * blocks)
    first, second = times[0::2].copy(), times[1::2].copy()
    first[1::2], second[1::2] = times[3::4], times[2::4]  # A B, B A
    null_batches = OVERHEAD_S + _lateness(source, 2 * blocks).reshape(2, blocks)
    return (
        [Timed(*each) for each in zip(first.tolist(), null_batches[0].tolist(), strict=True)],
        [Timed(*each) for each in zip(second.tolist(), null_batches[1].tolist(), strict=True)],
    )


@pytest.mark.parametrize("blocks", [6, 14, 30])
@pytest.mark.parametrize("batch_s", [6e-3, 25e-3])
@pytest.mark.parametrize("drift", [0.0, 1e-3])
def test_intervals_cover_the_truth(blocks: int, batch_s: float, drift: float) -> None:
    source = np.random.default_rng(7)
    intervals = [ratio_interval(*_blocks(source, blocks, batch_s, drift)) for _ in range(60)]
    assert sum(i.low <= 1 <= i.high for i in intervals) >= 0.93 * len(intervals)


@pytest.mark.parametrize("blocks", [6, 14, 30])
@pytest.mark.parametrize("batch_s", [2e-3, 25e-3])
def test_launch_overhead_falls_out_of_the_interval(blocks: int, batch_s: float) -> None:
    source = np.random.default_rng(11)
    intervals = [time_interval(_blocks(source, blocks, batch_s, 0.0)[0]) for _ in range(60)]
    assert sum(i.low <= batch_s <= i.high for i in intervals) >= 0.93 * len(intervals)
    assert np.median([i.value for i in intervals]) == pytest.approx(batch_s, rel=3e-3)


def test_no_time_is_negative() -> None:
    assert 0 < net([Timed(1e-6, 2e-6)] * 3) < 1e-9
    assert 0 < time_interval([Timed(1e-6, 2e-6)] * 3).value < 1e-9


def _interval(value: float, spread: float) -> Interval:
    return Interval(value=value, low=value / spread, high=value * spread)


intervals = st.builds(_interval, positive, st.floats(1.0, 3.0))


def test_geometric_mean_by_hand() -> None:
    mean = geometric_mean([_interval(2.0, 1.1), _interval(8.0, 1.1)])
    assert mean.value == pytest.approx(4.0)
    assert math.log(mean.high / mean.value) == pytest.approx(math.log(1.1) / math.sqrt(2))
    assert mean.value / mean.low == pytest.approx(mean.high / mean.value)


@given(st.lists(intervals, min_size=1, max_size=8))
def test_a_geometric_mean_is_between_its_parts(parts: list[Interval]) -> None:
    mean = geometric_mean(parts)
    values = [part.value for part in parts]
    assert min(values) * 0.999999 <= mean.value <= max(values) * 1.000001
    widest = max(part.high / part.low for part in parts)
    assert mean.high / mean.low <= widest * 1.000001


@given(intervals)
def test_the_mean_of_one_is_itself(part: Interval) -> None:
    mean = geometric_mean([part])
    for key in ("value", "low", "high"):
        assert getattr(mean, key) == pytest.approx(getattr(part, key))


@given(st.lists(intervals, min_size=2, max_size=6), st.randoms())
def test_a_geometric_mean_does_not_depend_on_order(parts: list[Interval], random) -> None:
    other = list(parts)
    random.shuffle(other)
    assert geometric_mean(other).value == pytest.approx(geometric_mean(parts).value)


def test_tiny_times_do_not_vanish() -> None:
    # A product of a thousand times of 1e-7 s underflows; a sum of logarithms does not.
    assert geometric_mean([_interval(1e-7, 1.01)] * 1000).value == pytest.approx(1e-7)
