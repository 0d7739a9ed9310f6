"""Leaderboards on the terminal, from the rows of boards.

Ranks are taken as they are; a rank that several entries share is shown as ``2=``.
"""

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records.measurement import Interval
from harness.text import numbers
from harness.text.plain import plain
from leaderboard.board import BoardKey, BoardRow, by_board

CPU_NOTE = "cpu: functional timing, not ranked with a GPU's"

MAX_ROWS = 500
"""Of one board; more is for a program, which reads CSV or JSON."""


def render_board(rows: Iterable[BoardRow], console: Console) -> None:
    """Print the boards in ``rows``, which are in order, one table each."""
    boards = list(by_board(rows))
    for number, (key, board) in enumerate(boards):
        if number:
            console.print()
        _board(key, board, console)
    if not boards:
        _print(console, Text("no accepted results yet"))


def _board(key: BoardKey, rows: list[BoardRow], console: Console) -> None:
    _print(console, _title(key))
    shared = Counter(row.rank for row in rows)
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
        tie = "=" if shared[row.rank] > 1 else " "
        table.add_row(
            Text("–" if row.rank is None else f"{row.rank}{tie}"),
            Text(plain(row.author, 60)),
            Text(plain(row.solution, 60)),
            Text(plain(row.language, 60)),
            Text("" if row.time_us is None else numbers.seconds(row.time_us * 1e-6)),
            Text(speedup(row)),
            Text(f"{row.date:%Y-%m-%d}"),
            style="dim" if row.rank is None else "",
        )
    console.print(table)
    if len(rows) > len(shown):
        left = numbers.integer(len(rows) - len(shown))
        _print(console, Text(f"… and {left} more: --csv FILE has all of them", style="dim"))
    for row in shown:
        if row.rank is None:
            who = plain(f"{row.author}/{row.solution}", 80)
            reason = plain(row.unranked_reason, 400)
            _print(console, Text(f"– {who}: not ranked: {reason}", style="dim"))


def _title(board: BoardKey) -> Text:
    cpu = board.device_kind == "cpu"
    device = plain(board.device, 60)
    title = Text(plain(board.problem, 60), style="bold")
    title.append(f"  {plain(board.dtype, 20)} · ", style="not bold")
    title.append(f"cpu ({device})" if cpu else device, style="not bold")
    if board.baseline:
        title.append(f" · speed-up over {plain(board.baseline, 60)}", style="not bold")
    title.append(f" · harness {plain(board.harness_major, 20)}.x", style="not bold")
    if cpu:
        title.append(f"\n{CPU_NOTE}", style="not bold yellow")
    return title


def speedup(row: BoardRow) -> str:
    """The speed-up with its interval; empty if nothing was timed."""
    if row.speedup is None or row.speedup_low is None or row.speedup_high is None:
        return ""
    return numbers.ratio(Interval(value=row.speedup, low=row.speedup_low, high=row.speedup_high))


def _print(console: Console, text: Text) -> None:
    console.print(text, highlight=False, emoji=False, markup=False)
