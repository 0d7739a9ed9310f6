"""Leaderboards on the terminal, from plain rows: this package knows nothing of pandas.

A row is what ``leaderboard.ranking.rows`` yields: the columns of a board by name, None for what
is missing. Ranks are taken as they are; a rank that several entries share is shown as ``2=``.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records.measurement import Interval
from harness.text import numbers
from harness.text.plain import plain

CPU_NOTE = "cpu: functional timing, not ranked with a GPU's"

Row = Mapping[str, object]

MAX_ROWS = 500
"""Of one board; more is for a program, which reads CSV or JSON."""

_KEY = ("problem", "dtype", "device_kind", "device", "harness_major", "baseline")


def render_board(rows: Iterable[Row], console: Console) -> None:
    """Print the boards in ``rows``, which are in order, one table each."""
    first = True
    for _, board in groupby(rows, key=lambda row: tuple(row.get(name) for name in _KEY)):
        if not first:
            console.print()
        first = False
        _board(list(board), console)
    if first:
        _print(console, Text("no accepted results yet"))


def _board(rows: list[Row], console: Console) -> None:
    _print(console, _title(rows[0]))
    shared = Counter(map(_rank, rows))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("author", overflow="fold")
    table.add_column("solution", overflow="fold")
    table.add_column("language", overflow="fold")
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("speed-up", justify="right", no_wrap=True)
    table.add_column("date", no_wrap=True)
    shown = rows[:MAX_ROWS]
    for row in shown:
        rank = _rank(row)
        tie = "=" if rank is not None and shared[rank] > 1 else " "
        table.add_row(
            Text("–" if rank is None else f"{rank}{tie}"),
            _text(row, "author"),
            _text(row, "solution"),
            _text(row, "language"),
            Text(_time(row)),
            Text(_speedup(row)),
            Text(_date(row)),
            style="dim" if rank is None else "",
        )
    console.print(table)
    if len(rows) > len(shown):
        left = numbers.integer(len(rows) - len(shown))
        _print(console, Text(f"… and {left} more: --csv FILE has all of them", style="dim"))
    for row in shown:
        if _rank(row) is None:
            who = plain(f"{row.get('author')}/{row.get('solution')}", 80)
            reason = plain(str(row.get("unranked_reason") or "unknown reason"), 400)
            _print(console, Text(f"– {who}: not ranked: {reason}", style="dim"))


def _title(row: Row) -> Text:
    cpu = row.get("device_kind") == "cpu"
    device = plain(str(row.get("device")), 60)
    title = Text(plain(str(row.get("problem")), 60), style="bold")
    title.append(f"  {plain(str(row.get('dtype')), 20)} · ", style="not bold")
    title.append(f"cpu ({device})" if cpu else device, style="not bold")
    if row.get("baseline"):
        title.append(f" · speed-up over {plain(str(row['baseline']), 60)}", style="not bold")
    title.append(f" · harness {plain(str(row.get('harness_major')), 20)}.x", style="not bold")
    if cpu:
        title.append(f"\n{CPU_NOTE}", style="not bold yellow")
    return title


def _rank(row: Row) -> int | None:
    # Whatever else stands for "missing" (None, NaN, pandas.NA) is no integer.
    rank = row.get("rank")
    return rank if isinstance(rank, int) else None


def _number(row: Row, key: str) -> float | None:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) and not math.isnan(value) else None


def _text(row: Row, key: str) -> Text:
    return Text(plain(str(row.get(key) or ""), 60))


def _time(row: Row) -> str:
    value = _number(row, "time_us")
    return "" if value is None else numbers.seconds(value * 1e-6)


def _speedup(row: Row) -> str:
    value, low, high = (_number(row, key) for key in ("speedup", "speedup_low", "speedup_high"))
    if value is None or low is None or high is None:
        return ""
    return numbers.ratio(Interval(value=value, low=low, high=high))


def _date(row: Row) -> str:
    date = row.get("date")
    return f"{date:%Y-%m-%d}" if isinstance(date, datetime) else ""


def _print(console: Console, text: Text) -> None:
    console.print(text, highlight=False, emoji=False, markup=False)
