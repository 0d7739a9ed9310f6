"""The table of models on the terminal."""

import math
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.text.plain import plain

_GROUP = ("dtype", "device_kind", "device", "harness_major")


def render_models(rows: Sequence[Mapping[str, str | int | float]], console: Console) -> None:
    """Print one table for each device and data type; of ``fast_p@k`` the least k alone.

    ``rows`` are as :meth:`leaderboard.models.ModelRow.cells` gives them.
    """
    if not rows:
        console.print("no generations yet", highlight=False)
    groups = sorted({tuple(str(row[name]) for name in _GROUP) for row in rows})
    for group in groups:
        dtype, kind, device, major = group
        there = device if kind == "cuda" else f"cpu ({device}): functional timing, not a GPU's"
        head = f"{plain(dtype, 20)} · {plain(there, 80)} · harness {plain(major, 8)}.x"
        console.print(Text(head, style="bold"), highlight=False)
        chosen = [row for row in rows if tuple(str(row[name]) for name in _GROUP) == group]
        for columns in _columns(chosen[0]):
            console.print(_table(chosen, columns))
        console.print(Text(_counts(chosen)), highlight=False)


def _table(rows: Sequence[Mapping[str, str | int | float]], shown: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("model", overflow="fold", min_width=16)
    for name in shown:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for row in rows:
        cells = [Text(_number(name, row[name])) for name in shown]
        table.add_row(Text(plain(str(row["model"]), 60)), *cells)
    return table


def _columns(row: Mapping[str, str | int | float]) -> tuple[list[str], list[str]]:
    """Right answers first, fast ones below: together they are too wide for a terminal."""
    passed = [name for name in row if name.startswith("pass@")]
    least = min((name.partition("@")[2] for name in passed), key=int, default="")
    fast = [name for name in row if name.startswith("fast_") and name.endswith(f"@{least}")]
    return ["problems", "solved", "samples", *passed], [*fast, "speedup"]


def _number(name: str, value: str | int | float) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        return f"{value:.3g}" if name == "speedup" else f"{value:.1%}"
    return str(value)


def _counts(rows: Sequence[Mapping[str, str | int | float]]) -> str:
    """What became of the samples, model by model."""
    lines = []
    for row in rows:
        counted = [f"{row[name]} {name}" for name in row if name.isupper() and row[name]]
        lines.append(f"{plain(str(row['model']), 60)}: {', '.join(counted)}")
    return "\n".join(lines)
