"""The table of models on the terminal."""

import math
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console

from harness.records.result import Reason, Verdict
from harness.report.tables import line, row, table
from harness.text.plain import plain

Cells = Mapping[str, str | int | float]
"""A row by columns, as :meth:`leaderboard.models.ModelRow.cells` gives it."""


def render_models(rows: Sequence[Cells], console: Console) -> None:
    """Print one table for each set of problems, device and data type; of ``fast_p@k`` the least k.

    Rows of levels are below their model's.
    """
    if not rows:
        line(console, "no generations yet")
    groups: dict[tuple[str, ...], list[Cells]] = {}
    for cells in rows:
        key = [str(cells[name]) for name in ("dtype", "device_kind", "device", "harness_major")]
        groups.setdefault((str(cells.get("problem_set", "")), *key), []).append(cells)
    for (of, dtype, kind, device, major), group in sorted(groups.items(), key=lambda item: item[0]):
        timed = not all(math.isnan(float(cells["speedup"])) for cells in group)
        of_cpu = "functional timing, not a GPU's" if timed else "verdicts alone"
        there = device if kind == "cuda" else f"cpu ({device}): {of_cpu}"
        head = f"{plain(dtype, 20)} · {plain(there, 80)} · harness {plain(major, 8)}.x"
        head = f"{plain(of, 60)} · {head}" if of else head
        line(console, head, "bold")
        for columns in _columns(group[0]):
            shown = table("model", *(f">{name}" for name in columns))
            shown.columns[0].min_width = 16
            for cells in group:
                row(shown, _model(cells), *(_number(name, cells[name]) for name in columns))
            console.print(shown)
        for cells in filter(lambda cells: not cells.get("level"), group):  # each sample once
            line(console, f"{_model(cells)}: {_verdicts(cells)}")


def _verdicts(cells: Cells) -> str:
    """``1 ACCEPTED, 2 INVALID_SUBMISSION (1 NO_CODE)``: each sample once, reasons in brackets."""
    counts = {verdict: ", ".join(_counted(cells, [verdict])) for verdict in Verdict}
    if reasons := _counted(cells, Reason):
        counts[Verdict.INVALID_SUBMISSION] += f" ({', '.join(reasons)})"
    return ", ".join(filter(None, counts.values()))


def _counted(cells: Cells, names: Iterable[str]) -> list[str]:
    return [f"{cells[name]} {name}" for name in names if cells.get(name)]


def _model(cells: Cells) -> str:
    level = cells.get("level")
    return f"  level {plain(str(level), 8)}" if level else plain(str(cells["model"]), 60)


def _columns(cells: Cells) -> tuple[list[str], list[str]]:
    """Right answers first, fast ones below: together they are too wide for a terminal."""
    passed = [name for name in cells if name.startswith("pass@")]
    least = min((name.partition("@")[2] for name in passed), key=int, default="")
    fast = [name for name in cells if name.startswith("fast_") and name.endswith(f"@{least}")]
    return ["problems", "solved", "samples", *passed], [*fast, "speedup"]


def _number(name: str, value: str | int | float) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:.3g}" if name == "speedup" else f"{value:.1%}"
