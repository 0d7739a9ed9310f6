"""Leaderboards on the terminal, from the rows of boards.

Ranks are taken as they are; a rank that several entries share is shown as ``2=``.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rich.console import Console
from rich.text import Text

from harness.records.measurement import Interval
from harness.report.tables import fitted, line, row, table
from harness.text import numbers
from harness.text.names import key as name_key
from harness.text.names import shown as shown_name
from harness.text.plain import plain
from leaderboard.board import BoardKey, BoardRow, by_board

CPU_NOTE = "cpu: functional timing, not ranked with a GPU's"

_HEIGHTS = "▁▂▃▄▅▆▇█"
_BARS = 12
_LEVEL = 0.01

MAX_ROWS = 500
"""Of one board; more is for a program, which reads CSV or JSON."""


Histories = Mapping[tuple[BoardKey, str, str], Sequence[float]]
"""The speed-ups on a board by author and solution, "" for all of theirs; the oldest first."""


def render_board(
    rows: Iterable[BoardRow],
    console: Console,
    nothing: str = "",
    histories: Histories = MappingProxyType({}),
) -> None:
    """Print the boards in ``rows``, which are in order, one table each; if none, ``nothing``.

    Entries that have ``histories`` show how their speed-up went.
    """
    boards = list(by_board(rows))
    for number, (key, board) in enumerate(boards):
        if number:
            console.print()
        _board(key, board, console, histories)
    if not boards:
        line(console, nothing or "no accepted results yet")


def _board(key: BoardKey, rows: list[BoardRow], console: Console, histories: Histories) -> None:
    line(console, _title(key))
    shared = Counter(each.rank for each in rows)
    shown = rows[:MAX_ROWS]
    went = [_history(each, histories) for each in shown]
    history = ["|history"] * any(went)
    entries = table(
        ">rank", "author", "solution", "language", ">time", ">speed-up", *history, "|date"
    )
    for each, spark in zip(shown, went, strict=True):
        row(
            entries,
            "–" if each.rank is None else f"{each.rank}{'=' if shared[each.rank] > 1 else ' '}",
            shown_name(each.author),
            *(plain(text, 60) for text in (each.solution, each.written_in)),
            "" if each.time_us is None else numbers.seconds(each.time_us * 1e-6),
            speedup(each),
            *([spark] * any(went)),
            f"{each.date:%Y-%m-%d}",
            style="dim" if each.rank is None else "",
        )
    console.print(fitted(entries, console, "history", "date", "language", "time"))
    if rows[0].grade_spread is not None:
        line(console, f"ranks allow for {rows[0].grade_spread:.2%} (σ) between grades", "dim")
    if more := len(rows) - len(shown):
        line(console, f"… and {numbers.integer(more)} more: --csv FILE has all of them", "dim")
    for each in shown:
        if each.rank is None:
            reason = plain(each.unranked_reason, 400)
            line(console, f"– {_who(each)}: not ranked: {reason}", "dim")
    for origin in sorted({each.origin for each in rows if each.origin}):
        of = [each for each in shown if each.origin == origin]
        whose = "all" if len(of) == len(rows) else plain(", ".join(map(_who, of)), 400)
        line(console, f"– imported from {plain(origin, 100)}: {whose}", "dim")


def _history(row: BoardRow, histories: Histories) -> str:
    """The line of its speed-ups, if there are several."""
    author = name_key(row.author)
    values = histories.get((row.key, author, row.solution)) or histories.get((row.key, author, ""))
    return sparkline(values) if values and len(values) > 1 else ""


def sparkline(values: Sequence[float]) -> str:
    """``▁▃█``: a bar for each value, low to high, of the logarithm; of many, the last few.

    Where all are within one per cent they are level.
    """
    logs = [math.log(each) for each in values[-_BARS:] if 0 < each < math.inf]
    low, span = min(logs, default=0.0), max(logs, default=0.0) - min(logs, default=0.0)
    if span < _LEVEL:
        return _HEIGHTS[len(_HEIGHTS) // 2] * len(logs)
    return "".join(_HEIGHTS[round((each - low) / span * (len(_HEIGHTS) - 1))] for each in logs)


def _who(row: BoardRow) -> str:
    return f"{shown_name(row.author)}/{plain(row.solution, 80)}"


def _title(board: BoardKey) -> Text:
    device = plain(board.device, 60)
    over = f" · speed-up over {plain(board.baseline, 60)}" if board.baseline else ""
    title = Text(plain(board.problem, 60), style="bold")
    title.append(
        f"  {plain(board.dtype, 20)} · {f'cpu ({device})' if board.emulated else device}{over}"
        f" · harness {plain(board.harness_major, 20)}.x",
        style="not bold",
    )
    if board.emulated:
        title.append(f"\n{CPU_NOTE}", style="not bold yellow")
    return title


def speedup(row: BoardRow) -> str:
    """The speed-up with its interval; empty if nothing was timed."""
    if row.speedup is None or row.speedup_low is None or row.speedup_high is None:
        return ""
    return numbers.ratio(Interval(value=row.speedup, low=row.speedup_low, high=row.speedup_high))
