"""Make the plots of docs/data/plots from docs/data: what ``python -m benchmarks --json`` wrote.

Usage: ``python -m benchmarks.plots [FOLDER]``; one SVG file for each JSON file. Without a folder it
makes the tables of docs/explanation/fusion.md, too.
"""

import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.fusion import page as fusion_page
from benchmarks.fusion.rows import ratio
from benchmarks.fusion.ways import HAND, LIBRARY
from harness.records.measurement import Interval
from harness.site.svg import Drawing, Scale

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs/data"
PLOTS = ROOT / "docs/data/plots"

Data = Mapping[str, Any]

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 60

STYLE = """
.page { fill: #ffffff; }
.chart { font: 12px sans-serif; fill: #222222; }
.title { font-size: 15px; }
.grid { stroke: #dddddd; }
.zero { stroke: #999999; }
.goal { fill: #e6f2e6; }
.interval { stroke: #1f5fbf; stroke-width: 1.5; }
.do_bench_s { fill: #b8860b; }
.events_s { fill: #c0392b; }
.ours_s { fill: #1f5fbf; }
"""

FUSED = f"""
.predicted {{ fill: #b8860b; }}
.{LIBRARY} {{ fill: #c0392b; stroke: #c0392b; stroke-width: 1.5; }}
.{HAND} {{ fill: #1f5fbf; stroke: #1f5fbf; stroke-width: 1.5; }}
"""

CLOCKS = (
    ("do_bench_s", "do_bench"),
    ("events_s", "CUDA events"),
    ("ours_s", "the judge"),
)
_ROW = 44
_GAP = 40
_CLOSE = 0.05
_TICKS = 8


def accuracy(data: Data) -> str:
    """How far each clock is from CUPTI, over the time of a call: all, and a closer look."""
    rows = [row for row in data["rows"] if row.get("cupti_s")]
    used = [clock for clock in CLOCKS if any(clock[0] in row for row in rows)]
    offs = [row[key] / row["cupti_s"] - 1 for row in rows for key, _ in used if key in row]
    most = max(_CLOSE, min(2.0, 1.05 * max(offs, default=0.0)))
    height = HEIGHT - TOP - BOTTOM
    total = HEIGHT + height + _GAP
    page = _page("accuracy", f"Time per call against CUPTI: {_where(data)}", total)
    for number, (key, name) in enumerate(used):
        page.dot(LEFT + 10 + 130 * number, 38, 4, key)
        page.text(LEFT + 20 + 130 * number, 42, name)
    _panel(page, rows, used, (-_CLOSE, most), TOP, TOP + height)
    bottom = total - BOTTOM
    _panel(page, rows, used, (-_CLOSE, _CLOSE), bottom - height, bottom)
    page.text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, "CUPTI, µs per call", anchor="middle")
    return page.file(STYLE)


def _panel(
    page: Drawing,
    rows: Sequence[Data],
    used: Sequence[tuple[str, str]],
    ends: tuple[float, float],
    top: float,
    bottom: float,
) -> None:
    """What lies between ``ends`` of how far each clock is from CUPTI; ±1 % is shaded."""
    times = [row["cupti_s"] * 1e6 for row in rows]
    decades = _decade(min(times), math.floor), _decade(max(times), math.ceil)
    x = Scale(*decades, LEFT, WIDTH - RIGHT, log=True)
    y = Scale(*ends, bottom, top)
    page.bar(LEFT, y(0.01), WIDTH - RIGHT - LEFT, y(-0.01) - y(0.01), "goal")
    for tick in x.ticks(_TICKS):
        page.line(x(tick), top, x(tick), bottom, "grid")
        page.text(x(tick), bottom + 18, f"{tick:g}", anchor="middle")
    for tick in y.ticks(_TICKS):
        page.line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "zero" if tick == 0 else "grid")
        page.text(LEFT - 8, y(tick) + 4, _percent(tick), anchor="end")
    for key, _ in used:
        for row in rows:
            off = row.get(key, math.inf) / row["cupti_s"] - 1
            if not ends[0] <= off <= ends[1]:
                continue
            place = x(row["cupti_s"] * 1e6)
            if key == "ours_s":
                low, high = (
                    min(max(row[end] / row["cupti_s"] - 1, ends[0]), ends[1])
                    for end in ("low_s", "high_s")
                )
                page.line(place, y(low), place, y(high), "interval")
            page.dot(place, y(off), 4, key, f"{row['kernel']}: {off:+.1%}")


def repeat(data: Data) -> str:
    """Every grade of each file against the median of its grades, with its interval if known."""
    scores = {name: grades for name, grades in data["scores"].items() if grades}
    total = TOP + BOTTOM + _ROW * len(scores)
    page = _page("repeat", f"The same file graded again: {_where(data)}", total)
    middles = {
        name: statistics.median(grade["value"] for grade in grades)
        for name, grades in scores.items()
    }
    ends = [
        abs(grade.get(end, grade["value"]) / middles[name] - 1)
        for name, grades in scores.items()
        for grade in grades
        for end in ("low", "high")
    ]
    most = max(0.005, 1.1 * max(ends, default=0.0))
    bottom = total - BOTTOM
    x = Scale(-most, most, LEFT + 130, WIDTH - RIGHT)
    page.bar(x(-0.003), TOP, x(0.003) - x(-0.003), bottom - TOP, "goal")
    for tick in x.ticks(_TICKS):
        page.line(x(tick), TOP, x(tick), bottom, "zero" if abs(tick) < 1e-12 else "grid")
        page.text(x(tick), bottom + 18, _percent(tick), anchor="middle")
    caption = "score against the median of its grades; ±0.3 % is shaded"
    page.text(x(0.0), bottom + 40, caption, anchor="middle")
    for number, (name, grades) in enumerate(scores.items()):
        middle = TOP + _ROW * (number + 0.5)
        page.text(LEFT + 120, middle + 4, name, anchor="end")
        for place, grade in enumerate(grades):
            height = middle + (place - (len(grades) - 1) / 2) * min(10, 30 / len(grades))
            off = grade["value"] / middles[name] - 1
            if "low" in grade:
                low, high = (grade[end] / middles[name] - 1 for end in ("low", "high"))
                page.line(x(low), height, x(high), height, "interval")
            page.dot(x(off), height, 4, "ours_s", f"{name}: {off:+.2%}")
    return page.file(STYLE)


def fusion(data: Data) -> str:
    """What fusion gains: for each problem as predicted, and as measured with its interval."""
    rows = data["problems"]
    total = TOP + BOTTOM + _ROW * len(rows)
    page = _page("fusion", f"Gains of fusion: {_where(data)}", total, fusion_page.PAGE)
    known = [
        (row, way, Interval.model_validate(row["ways"][way]["gain"]))
        for row in rows
        for way in (LIBRARY, HAND)
        if row["ways"][way]["gain"] is not None
    ]
    values = [1.0, *(row["predicted"] for row in rows if row["predicted"] is not None)]
    values += [end for _, _, gain in known for end in (gain.low, gain.high) if 0 < end < math.inf]
    ticks = _round_values(min(values), max(values))
    bottom = total - BOTTOM
    x = Scale(ticks[0], ticks[-1], LEFT + 130, WIDTH - RIGHT, log=True)
    for tick in ticks:
        page.line(x(tick), TOP, x(tick), bottom, "zero" if tick == 1 else "grid")
        page.text(x(tick), bottom + 18, f"{tick:g}", anchor="middle")
    page.text((x(ticks[0]) + x(ticks[-1])) / 2, bottom + 40, "times as fast as unfused", "middle")
    page.diamond(LEFT + 10, 38, 5, "predicted")
    page.text(LEFT + 20, 42, "the roofline predicts")
    for place, way, name in ((190, LIBRARY, "fused by a library"), (350, HAND, "fused by hand")):
        page.dot(LEFT + place, 38, 4, way)
        page.text(LEFT + place + 10, 42, name)
    for number, row in enumerate(rows):
        middle = TOP + _ROW * (number + 0.5)
        page.text(LEFT + 120, middle + 4, row["problem"], anchor="end")
        if row["predicted"] is not None:
            page.diamond(x(row["predicted"]), middle, 6, "predicted")
        for other, way, gain in known:
            if other is row:
                height = middle + (-9 if way == LIBRARY else 9)
                page.line(x(gain.low), height, x(gain.high), height, way)
                tip = f"{row['problem']}, {way}: {ratio(row['ways'][way]['gain'])}"
                page.dot(x(gain.value), height, 4, way, tip)
    return page.file(STYLE + FUSED)


def _round_values(low: float, high: float) -> list[float]:
    """Of 1, 2, 5, 10, … the least that reach from ``low`` to ``high``; at least two."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 2)
    all_ = [round(step * 10.0**decade, 12) for decade in decades for step in (1, 2, 5)]
    start = max(value for value in all_ if value <= low)
    end = min(value for value in all_ if value >= high and value > start)
    return [value for value in all_ if start <= value <= end]


KINDS = {"accuracy": accuracy, "repeat": repeat, "fusion": fusion}
TABLES = ("field", "published")
"""Data of which documents have tables alone."""


def _page(key: str, title: str, height: int, tables: Path = DATA / "benchmarks.md") -> Drawing:
    where = f"The figures are in the tables of {tables.relative_to(ROOT).as_posix()}."
    page = Drawing(key, WIDTH, height, title, where)
    page.bar(0, 0, WIDTH, height, "page")
    page.text(LEFT, 24, title, kind="title")
    return page


def _where(data: Data) -> str:
    return f"{data['card']}, {data['date']}"


def _percent(part: float) -> str:
    return "0" if abs(part) < 1e-12 else f"{part * 100:+.3g} %"


def _decade(value: float, rounded: Any) -> float:
    return float(10.0 ** rounded(math.log10(value)))


def main() -> None:
    """All plots."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PLOTS
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(DATA.glob("*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["what"] in TABLES:
            continue
        plot = folder / file.with_suffix(".svg").name
        plot.write_text(KINDS[data["what"]](data), encoding="utf-8")
        print(plot)
    if folder == PLOTS:
        fusion_page.PAGE.write_text(fusion_page.made(), encoding="utf-8")
        print(fusion_page.PAGE)


if __name__ == "__main__":
    main()
