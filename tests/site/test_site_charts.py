"""Where the charts put things."""

import math
import re
from xml.etree import ElementTree

import pytest
from support.samples import interval, measurement, result
from support.site_samples import shapes

from harness.records.measurement import Interval
from harness.site.charts import (
    MAX_DOTS,
    MAX_SAMPLES,
    WIDTH,
    lone_intensity,
    roofline_chart,
    samples_chart,
    speedup_chart,
)
from harness.site.steps import MAX_STEPS, steps_chart
from harness.site.svg import Scale
from leaderboard.board import BoardRow
from leaderboard.ranking import board, rows


def _attributes(drawn: object, kind: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(str(drawn))
    return [each.attrib for each in root.iter() if each.get("class") == kind]


def test_bars_are_as_long_as_the_speed_up() -> None:
    drawn = speedup_chart([measurement(speedup=1.0), measurement(speedup=3.0)], "pytorch")
    one, three = (float(each["width"]) for each in _attributes(drawn, "bar"))
    assert three == pytest.approx(3 * one, rel=0.01)
    (unit,) = _attributes(drawn, "unit")
    assert float(unit["x1"]) == pytest.approx(8 + one, abs=0.2)


def test_an_interval_without_an_end_reaches_the_edge() -> None:
    open_end = Interval(value=1.0, low=0.5, high=math.inf)
    drawn = speedup_chart([measurement(speedup=1.0).model_copy(update={"speedup": open_end})], "b")
    assert max(float(each["x2"]) for each in _attributes(drawn, "whisker")) <= WIDTH
    assert "nan" not in drawn and "inf" not in drawn


def test_samples_are_dots_and_bounded() -> None:
    few = measurement(samples_s=(1.0, 1.01, 0.99))
    assert len(_attributes(samples_chart([few], "b"), "dot own")) == 3
    many = measurement(samples_s=tuple(1 + n * 1e-5 for n in range(10_000)))
    dots = _attributes(samples_chart([many], "b"), "dot own")
    assert len(dots) == MAX_SAMPLES
    places = [float(each["cx"]) for each in dots]
    assert places == sorted(places) and places[0] < WIDTH * 0.1 and places[-1] > WIDTH * 0.9


def test_many_shapes_share_the_room_for_dots() -> None:
    many = measurement(samples_s=(1.0,) * 100, baseline_samples_s=(1.0,) * 100)
    drawn = samples_chart([many] * 20, "b")
    assert 0.9 * MAX_DOTS <= drawn.count("<circle") <= MAX_DOTS


@pytest.mark.parametrize(
    ("intensities", "alone"),
    [((0.25, 0.25, 0.3), 0.25), ((0.25, 8.0), None), ((2.0,), 2.0), ((), None)],
)
def test_shapes_of_one_intensity_need_no_roofline(
    intensities: tuple[float, ...], alone: float | None
) -> None:
    assert lone_intensity([measurement(flops=1e9 * i, bytes=1e9) for i in intensities]) == alone
    assert lone_intensity([measurement(flops=None)]) is None


def _days(*speedups: float | None, minutes: int = 1440) -> list[BoardRow]:
    made = [
        result(name=f"k{n}", minutes=n * minutes, speedup=value or 1.0)
        for n, value in enumerate(speedups)
    ]
    return sorted(rows(board(made, all_entries=True)), key=lambda row: row.date)


def test_steps_hold_until_the_next_one() -> None:
    drawn = steps_chart(_days(1.0, 3.0, 2.0), "best", "Best")
    dots = _attributes(drawn, "dot own")
    across = [float(each["cx"]) for each in dots]
    assert across == sorted(across) and across[1] - across[0] == pytest.approx(
        across[2] - across[1], abs=0.2
    )
    lines = _attributes(drawn, "step")
    assert len(lines) == 4
    assert all(each["x1"] == each["x2"] or each["y1"] == each["y2"] for each in lines)
    (one,) = _attributes(drawn, "unit")
    assert float(one["y1"]) == pytest.approx(float(dots[0]["cy"]), abs=0.1)
    assert "2026-03-01: 1×; 2026-03-02: 3×; 2026-03-03: 2×" in drawn


def test_steps_of_a_day_or_of_nothing_are_not_drawn() -> None:
    assert steps_chart([], "best", "Best") is None
    assert steps_chart(_days(1.0), "best", "Best") is None
    assert steps_chart(_days(1.0, 2.0, minutes=5), "best", "Best") is None


def test_of_many_steps_the_last_are_drawn() -> None:
    drawn = steps_chart(_days(*[1.0 + n for n in range(MAX_STEPS + 20)]), "best", "Best")
    assert len(_attributes(drawn, "dot own")) == MAX_STEPS
    assert f"{MAX_STEPS + 20}×" in str(drawn)


def test_samples_that_are_no_times_are_left_out() -> None:
    odd = measurement(samples_s=(math.inf, math.nan, 0.0, -1.0), baseline_samples_s=())
    assert "nan" not in samples_chart([odd], "b")


def test_the_roof_is_a_slope_and_a_level() -> None:
    roof = _attributes(roofline_chart(shapes(2.0), "b"), "roof")
    slope, level = roof
    assert float(slope["y1"]) > float(slope["y2"])
    assert level["y1"] == level["y2"] == slope["y2"]


def test_entries_lie_below_the_roof() -> None:
    drawn = roofline_chart(shapes(2.0), "b")
    for drop in _attributes(drawn, "drop"):
        assert float(drop["y2"]) > float(drop["y1"])


def test_without_speed_of_light_times_there_is_no_roof() -> None:
    assert roofline_chart([measurement()], "b") is None
    assert roofline_chart([measurement(sol_time_s=1e-6, flops=None)], "b") is None
    assert interval(1.0).value == 1.0


@pytest.mark.parametrize(
    ("low", "high", "log"), [(1.0, 1.0, False), (0.0, 1.0, True), (2.0, 1.0, False)]
)
def test_a_scale_without_length_is_refused(low: float, high: float, log: bool) -> None:
    with pytest.raises(ValueError, match="no scale"):
        Scale(low, high, 0, 1, log=log)


def test_ticks_are_round_and_within() -> None:
    assert list(Scale(0, 2.3, 0, 100).ticks()) == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert list(Scale(1, 1000, 0, 100, log=True).ticks()) == [1, 10, 100, 1000]
    assert Scale(0, 1, 0, 100)(5) == 100
    assert re.fullmatch(r"[\d.]+", f"{Scale(1, 100, 0, 100, log=True)(10):.1f}")
