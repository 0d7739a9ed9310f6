"""A speed-up over time as a chart: steps, each a value that holds until the next."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from markupsafe import Markup

from harness.site.charts import WIDTH
from harness.site.svg import Drawing, Scale
from leaderboard.board import BoardRow

MAX_STEPS = 60

_LEFT, _RIGHT, _TOP, _HEIGHT, _FOOT = 46.0, 12.0, 12.0, 190.0, 30.0


def steps_chart(rows: Sequence[BoardRow], key: str, title: str) -> Markup | None:
    """The last :data:`MAX_STEPS` of ``rows``, the oldest first; None for a day's work.

    Args:
        rows: entries of one board by date; those that were not timed are left out.
        key: the chart's id on its page.
        title: what it is a chart of.
    """
    timed = [(row.date, row.speedup) for row in rows if row.speedup is not None][-MAX_STEPS:]
    if len({_day(date) for date, _ in timed}) < 2:
        return None
    told = "; ".join(f"{_day(date)}: {_times(value)}" for date, value in timed)
    page = Drawing(key, WIDTH, _HEIGHT, title, told)
    bottom = _HEIGHT - _FOOT
    begin, end = timed[0][0].timestamp(), timed[-1][0].timestamp()
    x = Scale(begin, end, _LEFT + 6, WIDTH - _RIGHT)
    y = Scale(0.0, max([1.0, *(value for _, value in timed)]) * 1.08, bottom, _TOP)
    for tick in y.ticks(4):
        page.line(_LEFT, y(tick), WIDTH - _RIGHT, y(tick), "grid")
        page.text(_LEFT - 6, y(tick) + 4, f"{tick:g}×", "end", "tick")
    page.line(_LEFT, y(1), WIDTH - _RIGHT, y(1), "unit")
    page.text(_LEFT, bottom + 20, _day(timed[0][0]), "start", "tick")
    page.text(WIDTH - _RIGHT, bottom + 20, _day(timed[-1][0]), "end", "tick")
    places = [(x(date.timestamp()), y(value)) for date, value in timed]
    for (left, before), (right, after) in pairwise(places):
        page.line(left, before, right, before, "step")
        page.line(right, before, right, after, "step")
    for (date, value), (across, up) in zip(timed, places, strict=True):
        page.dot(across, up, 4, "dot own", f"{_day(date)}: {_times(value)}")
    return page.svg()


def _day(date: datetime) -> str:
    return date.strftime("%Y-%m-%d")


def _times(value: float) -> str:
    return f"{value:.4g}×"
