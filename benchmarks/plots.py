"""Make the plots of docs/data/plots from docs/data: what ``python -m benchmarks --json`` wrote.

Usage: ``python -m benchmarks.plots [FOLDER]``; one SVG file for each JSON file.
"""

import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.svg import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Page
from harness.site.svg import Scale

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs/data"
PLOTS = ROOT / "docs/data/plots"

Data = Mapping[str, Any]

CLOCKS = (
    ("do_bench_s", "do_bench", "#b8860b"),
    ("events_s", "CUDA events", "#c0392b"),
    ("ours_s", "the judge", "#1f5fbf"),
)
_GOAL = "#e6f2e6"
_ROW = 44
_GAP = 40
_CLOSE = 0.05
_TICKS = 8


def accuracy(data: Data) -> str:
    """How far each clock is from CUPTI, over the time of a call: all, and a closer look."""
    rows = [row for row in data["rows"] if row.get("cupti_s")]
    used = [clock for clock in CLOCKS if any(clock[0] in row for row in rows)]
    offs = [row[key] / row["cupti_s"] - 1 for row in rows for key, _, _ in used if key in row]
    most = max(_CLOSE, min(2.0, 1.05 * max(offs, default=0.0)))
    height = HEIGHT - TOP - BOTTOM
    page = Page(f"Time per call against CUPTI: {_where(data)}", HEIGHT + height + _GAP)
    for number, (_, name, colour) in enumerate(used):
        page.dot(LEFT + 10 + 130 * number, 38, colour)
        page.text(LEFT + 20 + 130 * number, 42, name)
    _panel(page, rows, used, (-_CLOSE, most), TOP, TOP + height)
    bottom = page.height - BOTTOM
    _panel(page, rows, used, (-_CLOSE, _CLOSE), bottom - height, bottom)
    page.text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, "CUPTI, µs per call", anchor="middle")
    return page.svg()


def _panel(
    page: Page,
    rows: Sequence[Data],
    used: Sequence[tuple[str, str, str]],
    ends: tuple[float, float],
    top: float,
    bottom: float,
) -> None:
    """What lies between ``ends`` of how far each clock is from CUPTI; ±1 % is shaded."""
    times = [row["cupti_s"] * 1e6 for row in rows]
    decades = _decade(min(times), math.floor), _decade(max(times), math.ceil)
    x = Scale(*decades, LEFT, WIDTH - RIGHT, log=True)
    y = Scale(*ends, bottom, top)
    page.rectangle(LEFT, y(0.01), WIDTH - RIGHT - LEFT, y(-0.01) - y(0.01), _GOAL)
    for tick in x.ticks(_TICKS):
        page.line(x(tick), top, x(tick), bottom)
        page.text(x(tick), bottom + 18, f"{tick:g}", anchor="middle")
    for tick in y.ticks(_TICKS):
        page.line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "#999999" if tick == 0 else "#dddddd")
        page.text(LEFT - 8, y(tick) + 4, _percent(tick), anchor="end")
    for key, _, colour in used:
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
                page.line(place, y(low), place, y(high), colour, 1.5)
            page.dot(place, y(off), colour, f"{row['kernel']}: {off:+.1%}")


def repeat(data: Data) -> str:
    """Every grade of each file against the median of its grades, with its interval if known."""
    scores = {name: grades for name, grades in data["scores"].items() if grades}
    page = Page(f"The same file graded again: {_where(data)}", TOP + BOTTOM + _ROW * len(scores))
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
    bottom = page.height - BOTTOM
    x = Scale(-most, most, LEFT + 130, WIDTH - RIGHT)
    page.rectangle(x(-0.003), TOP, x(0.003) - x(-0.003), bottom - TOP, _GOAL)
    for tick in x.ticks(_TICKS):
        page.line(x(tick), TOP, x(tick), bottom, "#999999" if abs(tick) < 1e-12 else "#dddddd")
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
                page.line(x(low), height, x(high), height, "#1f5fbf", 1.5)
            page.dot(x(off), height, "#1f5fbf", f"{name}: {off:+.2%}")
    return page.svg()


KINDS = {"accuracy": accuracy, "repeat": repeat}


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
        plot = folder / file.with_suffix(".svg").name
        plot.write_text(KINDS[data["what"]](data), encoding="utf-8")
        print(plot)


if __name__ == "__main__":
    main()
