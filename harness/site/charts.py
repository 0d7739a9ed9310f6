"""The three charts of an entry: speed-up by shape, distribution of samples, roofline.

Each is an SVG element for a page, at most :data:`MAX_SHAPES` shapes and :data:`MAX_SAMPLES`
samples of each program a shape, so that no record makes a page that a phone cannot show.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from harness.records.fields import LEAST_S, MOST_S
from harness.records.measurement import Measurement
from harness.site.boards import BAR_WIDTH, Bar
from harness.site.svg import Drawing, Scale
from harness.text import numbers

MAX_SHAPES = 24
MAX_SAMPLES = 60
MAX_DOTS = 600
"""Samples of all shapes and both programs."""
MAX_ROWS = 60
"""Rows of a table of shapes or kernels."""

WIDTH = 440.0
_LEFT, _RIGHT, _TOP = 8.0, 12.0, 8.0
_LABEL = 44
"""Most characters of a shape that fit above its row."""


def bar(bar: Bar) -> Markup:
    """A row's bar from 0 on, with its interval and a line at 1×."""
    value, low, high, unit = bar
    return Markup(  # noqa: S704 - numbers alone
        f'<svg class="mini" viewBox="0 0 {BAR_WIDTH} 16" aria-hidden="true">'
        f'<rect class="bar" y="4" height="8" width="{value:.1f}"/>'
        f'<path class="whisker" d="M{low:.1f} 8H{high:.1f}M{low:.1f} 5v6M{high:.1f} 5v6"/>'
        f'<path class="unit" d="M{unit:.1f} 0v16"/></svg>'
    )


def share(part: float) -> Markup:
    """A part of one as a bar."""
    width = BAR_WIDTH * min(max(part, 0.0), 1.0)
    return Markup(  # noqa: S704 - numbers alone
        f'<svg class="share" viewBox="0 0 {BAR_WIDTH} 6" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="ground" width="{BAR_WIDTH}" height="6"/>'
        f'<rect class="bar" width="{width:.1f}" height="6"/></svg>'
    )


def lone_intensity(measurements: Sequence[Measurement]) -> float | None:
    """Operations a byte, where all shapes have about the same; None where they differ.

    A roofline of such shapes is a column of dots.
    """
    found = [each.flops / each.bytes for each in measurements if each.flops and each.bytes]
    return found[0] if found and max(found) <= 1.25 * min(found) else None


def speedup_chart(measurements: Sequence[Measurement], baseline: str) -> Markup:
    """A bar a shape: the speed-up, its 95 % interval, and the speed of light as a diamond."""
    shown = measurements[:MAX_SHAPES]
    rows, foot = 40.0, 40.0
    height = _TOP + rows * len(shown) + foot
    page = Drawing(
        "speedup",
        WIDTH,
        height,
        "Speed-up of each shape",
        f"Over {baseline}; whiskers are 95 % intervals. "
        + "; ".join(f"{_short(each.spec)}: {numbers.ratio(each.speedup)}" for each in shown),
    )
    ends = [end for each in shown for end in (each.speedup.value, each.speedup.high)]
    ends = [end for end in ends if math.isfinite(end)]
    lights = [each.baseline_s.value / each.sol_time_s for each in shown if each.sol_time_s]
    most = max([1.0, *ends, *[each for each in lights if each < 8 * max(1.0, *ends)]])
    x = Scale(0.0, most * 1.06, _LEFT, WIDTH - _RIGHT)
    bottom = height - foot
    _columns(page, x, bottom, "{:g}×".format)
    for number, each in enumerate(shown):
        top = _TOP + rows * number
        page.text(_LEFT, top + 14, _short(each.spec), kind="label")
        page.text(WIDTH - _RIGHT, top + 14, numbers.ratio(each.speedup), "end", "value")
        page.bar(_LEFT, top + 20, x(each.speedup.value) - _LEFT, 12, "bar")
        low, high = each.speedup.low, each.speedup.high
        page.line(x(low), top + 26, x(high), top + 26, "whisker")
        for end in (low, high):
            page.line(x(end), top + 22, x(end), top + 30, "whisker")
        if each.sol_time_s:
            page.diamond(x(each.baseline_s.value / each.sol_time_s), top + 26, 5, "light")
    page.line(x(1), _TOP, x(1), bottom, "unit")
    page.text(x(1), bottom + 33, f"1× is {_short(baseline)}", _anchor(x(1)), "tick")
    return page.svg()


def samples_chart(measurements: Sequence[Measurement], baseline: str) -> Markup:
    """A dot a block: how far each raw time is from its program's median, shape by shape."""
    shown = measurements[:MAX_SHAPES]
    most = min(MAX_SAMPLES, MAX_DOTS // max(2 * len(shown), 1))
    lanes = [
        (each, kind, _spread(samples, most))
        for each in shown
        for kind, samples in (("own", each.samples_s), ("base", each.baseline_samples_s))
    ]
    rows, foot = 54.0, 40.0
    height = _TOP + rows * len(shown) + foot
    page = Drawing(
        "samples",
        WIDTH,
        height,
        "Distribution of the samples",
        "Times per call of each block against the median of their program. "
        + "; ".join(
            f"{_short(each.spec)}, {'submission' if kind == 'own' else baseline}: "
            f"{_percent(min(parts, default=0))} to {_percent(max(parts, default=0))}"
            for each, kind, parts in lanes
        ),
    )
    widest = max([0.002, *(abs(part) for _, _, parts in lanes for part in parts)])
    x = Scale(-widest * 1.05, widest * 1.05, _LEFT, WIDTH - _RIGHT)
    bottom = height - foot
    _columns(page, x, bottom, _percent)
    page.line(x(0), _TOP, x(0), bottom, "unit")
    page.text(WIDTH / 2, bottom + 33, "from the median of the same program", "middle", "tick")
    for number, (each, kind, parts) in enumerate(lanes):
        top = _TOP + rows * (number // 2)
        middle = top + (27 if kind == "own" else 42)
        if kind == "own":
            page.text(_LEFT, top + 14, _short(each.spec), kind="label")
        for place, part in enumerate(parts):
            page.dot(x(part), middle + (place % 3 - 1) * 2.5, 3, f"dot {kind}")
    return page.svg()


class _Point(NamedTuple):
    """A shape in the roofline: operations per byte, and rates in operations per second."""

    spec: str
    intensity: float
    roof: float
    own: float
    base: float


def roofline_chart(measurements: Sequence[Measurement], baseline: str) -> Markup | None:
    """Operations a second over operations a byte, below what the device could do.

    The roof is drawn through the least times that the record has for each shape: a slope where the
    memory decides, a level where arithmetic does, each as far as the shapes show it. None where the
    record has no such times (a CPU) or no operations.
    """
    points = [
        _Point(each.spec, each.flops / each.bytes, *(each.flops / time for time in times))
        for each in measurements[:MAX_SHAPES]
        if each.flops and each.bytes and each.sol_time_s and min(each.flops, each.bytes) >= 1
        for times in [(each.sol_time_s, each.time_s.value, each.baseline_s.value)]
    ]
    if not points:
        return None
    rates = (
        f"{_short(each.spec)}: {numbers.flop_rate(each.own, 1)} of at most "
        f"{numbers.flop_rate(each.roof, 1)}"
        for each in points
    )
    height, left, foot = 330.0, 46.0, 44.0
    page = Drawing("roofline", WIDTH, height, "Roofline", "; ".join(rates))
    bottom = height - foot
    x = _decades([each.intensity for each in points], 1.5, left, WIDTH - _RIGHT)
    y = _decades([rate for each in points for rate in each[2:]], 1.3, bottom, _TOP)
    _columns(page, x, bottom, "{:g}".format)
    for tick in y.ticks():
        page.line(left, y(tick), WIDTH - _RIGHT, y(tick), "grid")
        page.text(left - 5, y(tick) + 4, _rate_tick(tick), "end", "tick")
    page.text((left + WIDTH) / 2, bottom + 34, "operations per byte", "middle", "tick")
    page.text(left + 5, _TOP + 12, "FLOP/s", "start", "tick")
    roof = _roof([(each.intensity, each.roof) for each in points], x.low)
    for (x1, y1), (x2, y2) in pairwise((x(intensity), y(rate)) for intensity, rate in roof):
        page.line(x1, y1, x2, y2, "roof")
    for each in points:
        place = x(each.intensity)
        page.line(place, y(each.roof), place, y(each.own), "drop")
        page.dot(place, y(each.base), 4, "dot base", f"{baseline}: {each.spec}")
        page.dot(place, y(each.own), 5, "dot own", each.spec)
    return page.svg()


def _roof(places: Sequence[tuple[float, float]], low: float) -> list[tuple[float, float]]:
    """Corners of min(slope · intensity, level), as far as ``places`` bear it out.

    The slope begins at ``low``, or not at all where arithmetic decides every shape; the level ends
    at the last shape beyond the ridge.
    """
    slope = max(rate / intensity for intensity, rate in places)
    level = max(rate for _, rate in places)
    first, last = min(places)[0], max(places)[0]
    flat = all(math.isclose(rate, level, rel_tol=0.02) for _, rate in places)
    if flat and last > first * 1.02:
        return [(first, level), (last, level)]
    ridge = level / slope
    points = [(low, slope * low), (ridge, level)]
    return [*points, (last, level)] if last > ridge * 1.02 else points


def _decades(values: Sequence[float], margin: float, start: float, end: float) -> Scale:
    """A scale of whole decades in which all ``values`` lie, ``margin`` times from its ends."""
    low, high = min(values) / margin, max(values) * margin
    decades = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
    return Scale(*decades, start, end, log=True)


def _columns(page: Drawing, x: Scale, bottom: float, label: Callable[[float], str]) -> None:
    """Vertical lines at round values, each with its label below."""
    for tick in x.ticks():
        page.line(x(tick), _TOP, x(tick), bottom, "grid")
        page.text(x(tick), bottom + 16, label(tick), _anchor(x(tick)), "tick")


def _spread(samples: Sequence[float], most: int) -> list[float]:
    """Parts off the median, sorted; of many samples ``most`` even quantiles, ends included."""
    finite = sorted(each for each in samples if LEAST_S <= each <= MOST_S)
    if not finite:
        return []
    middle = statistics.median(finite)
    if len(finite) > most:
        last = len(finite) - 1
        finite = [finite[round(n * last / (most - 1))] for n in range(most)]
    return [each / middle - 1 for each in finite]


def _short(text: str) -> str:
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"


def _percent(part: float) -> str:
    return "0" if abs(part) < 1e-12 else f"{part * 100:+.3g} %"


def _rate_tick(rate: float) -> str:
    value, _, unit = numbers.flop_rate(rate, 1.0).removesuffix("FLOP/s").partition(" ")
    return f"{float(value):g} {unit}".rstrip()


def _anchor(place: float) -> str:
    return "start" if place < 40 else "end" if place > WIDTH - 40 else "middle"
