r"""Boards as CSV files that are safe to open in a spreadsheet, and to print.

Authors and names are chosen by the people who are ranked. In text columns:

- control, invisible and direction-changing characters are written as escapes (``\x1b``,
  ``\u202e``), and so is a part of what a CI system takes for a command (``##[error]``), so that a
  file can be shown in a terminal and in a log;
- a cell that a spreadsheet would take for a formula (``=``, ``+``, ``-``, ``@`` and their
  full-width forms, after spaces or not) gets an apostrophe in front, and so does one that starts
  with an apostrophe, so that :func:`read_csv` can take exactly these away again. Text is quoted;
  for the sake of spreadsheets that take a semicolon for the end of a cell whatever the quotes, one
  before a formula is written as an escape.

Numbers are written in full: what :func:`read_csv` returns equals the frame of what was written, but
for the escapes.
"""

import contextlib
import re
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from harness.text.escape import visible
from leaderboard.board import Boards
from leaderboard.columns import COLUMNS
from leaderboard.standings import values

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"[\s']*[=+\-@＝＋－＠]|'")
_AT_ONCE = 4096
"""Lines to write at once."""

_NOTHING = '""'
_FORMULA_BEHIND = re.compile(r";(?=[\s'\"]*[=+\-@＝＋－＠])")
_MARKS = ("\\", "'", ";", "=", "@", "##", "::", "NaN", "Infinity")
_MARKED = re.compile('"[ +-]')
"""Without any of these, lines of JSON values in ASCII are lines of cells."""


def to_csv(boards: Boards, file: str | Path | IO[str]) -> None:
    """Write ``boards`` with a header; dates in ISO 8601.

    Raises:
        OSError: the file cannot be written.
    """
    keys, entries, reasons, origins = boards.parts()
    ranks = [str(rank) if rank else _NOTHING for rank in boards.ranks.tolist()]
    header = ",".join(map(_quoted, COLUMNS))
    columns = (_few(keys), ranks, _cells(entries), _few(reasons), _cells(origins))
    rows = map(",".join, zip(*columns, strict=True))
    with contextlib.ExitStack() as opened:
        if isinstance(file, str | Path):
            file = opened.enter_context(open(file, "w", encoding="utf-8", newline=""))
        file.write(header + "\n")
        while some := list(islice(rows, _AT_ONCE)):
            file.write("\n".join([*some, ""]))


def _cells(lines: list[str]) -> list[str]:
    """What is written of lines of JSON values; most are written as they are."""
    if _as_they_are("\n".join(lines)):
        return lines
    return [line if _as_they_are(line) else _rewritten(line) for line in lines]


def _few(lines: list[str]) -> list[str]:
    """As :func:`_cells`, where most lines are the same."""
    distinct = list(set(lines))
    known = dict(zip(distinct, _cells(distinct), strict=True))
    return [known[line] for line in lines]


def _as_they_are(text: str) -> bool:
    # A letter that is not there is found out ten times as fast as a word.
    marked = any(mark[0] in text and mark in text for mark in _MARKS)
    return not marked and _MARKED.search(text) is None


def _rewritten(line: str) -> str:
    return ",".join(map(_cell, values(line)))


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return _quoted(neutral(value))
    return repr(value) if value == value else _NOTHING  # not NaN, which is what is missing


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def read_csv(file: str | Path | IO[str]) -> "pd.DataFrame":
    """Read a board that :func:`to_csv` wrote, with the types it had.

    Raises:
        ValueError: this is not a board.
        OSError: the file cannot be read.
    """
    import numpy as np
    import pandas as pd

    text = pd.read_csv(file, dtype="str", keep_default_na=False, encoding="utf-8")
    if list(text.columns) != list(COLUMNS):
        raise ValueError("the columns are not those of a board")
    try:
        columns = {name: _values(text[name], kind) for name, kind in COLUMNS.items()}
        with np.errstate(invalid="raise"):
            return pd.DataFrame(columns).astype(dict(COLUMNS))
    except (
        TypeError,
        OverflowError,
        FloatingPointError,
    ) as error:  # half a rank, a rank beyond all integers
        raise ValueError(f"a cell does not hold what its column holds: {error}") from error


def _values(cells: "pd.Series", kind: str) -> "pd.Series":
    import pandas as pd

    if kind == "str":
        return cells.str.removeprefix("'")
    if kind.startswith("datetime"):
        return pd.to_datetime(cells, utc=True, format="ISO8601")
    return cells.map(lambda cell: float(cell) if cell else None).astype("float64")


def neutral(text: str) -> str:
    """``text`` as it may stand in a cell: nothing hidden, nothing that is a formula."""
    shown = _FORMULA_BEHIND.sub(r"\\x3b", visible(text))
    return "'" + shown if _FORMULA.match(shown) else shown
