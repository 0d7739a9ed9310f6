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

import csv
import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from harness.text.plain import visible
from leaderboard.board import COLUMNS, plain_values

_FORMULA = re.compile(r"[\s']*[=+\-@＝＋－＠]|'")
_MARKS = ("'", "=", "+", "@", ";", "#", ":", '"-', '" ')
"""Printable ASCII without any of these is neutral."""

_KNOWN = [list(COLUMNS)[:end] for end in (None, -1)]
"""The columns, now and before there was the last."""

_FORMULA_BEHIND = re.compile(r";(?=[\s'\"]*[=+\-@＝＋－＠])")


def to_csv(boards: pd.DataFrame, file: str | Path | IO[str]) -> None:
    """Write ``boards`` with a header; dates in ISO 8601.

    Raises:
        OSError: the file cannot be written.
    """
    columns = [_cells(boards[name], kind) for name, kind in COLUMNS.items()]
    with (
        open(file, "w", encoding="utf-8", newline="")
        if isinstance(file, str | Path)
        else nullcontext(file)
    ) as opened:
        writer = csv.writer(opened, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*columns, strict=True))


def _cells(column: pd.Series, kind: str) -> Sequence[object]:
    if kind == "str":
        return _neutral(column.tolist())
    if kind.startswith("datetime"):
        # Years before 1000 need their zeros, which strftime leaves out.
        texts = np.datetime_as_string(column.dt.tz_localize(None).to_numpy(), unit="us")
        return [f"{text}+0000" for text in texts]
    return plain_values(column, kind)


def _neutral(texts: list[str]) -> list[str]:
    # Most columns have nothing to hide, which is found out at once; each cell follows a quote.
    whole = '"'.join(["", *texts])
    if whole.isascii() and whole.isprintable() and not any(mark in whole for mark in _MARKS):
        return texts
    cells = {text: neutral(text) for text in set(texts)}
    return [cells[text] for text in texts]


def read_csv(file: str | Path | IO[str]) -> pd.DataFrame:
    """Read a board that :func:`to_csv` wrote, now or with fewer columns, with the types it had.

    Raises:
        ValueError: this is not a board.
        OSError: the file cannot be read.
    """
    text = pd.read_csv(file, dtype="str", keep_default_na=False, encoding="utf-8")
    if list(text.columns) not in _KNOWN:
        raise ValueError("the columns are not those of a board")
    text = text.reindex(columns=list(COLUMNS), fill_value="")
    columns = {name: _read(text[name], kind) for name, kind in COLUMNS.items()}
    try:
        with np.errstate(invalid="raise"):
            return pd.DataFrame(columns).astype(dict(COLUMNS))
    # Half a rank, a rank beyond all integers.
    except (TypeError, OverflowError, FloatingPointError) as error:
        raise ValueError(f"a cell does not hold what its column holds: {error}") from error


def _read(cells: pd.Series, kind: str) -> pd.Series:
    if kind == "str":
        return cells.str.removeprefix("'")
    if kind.startswith("datetime"):
        return pd.to_datetime(cells, utc=True, format="ISO8601")
    return cells.map(lambda cell: float(cell) if cell else None).astype("float64")


def neutral(text: str) -> str:
    """``text`` as it may stand in a cell: nothing hidden, nothing that is a formula."""
    shown = _FORMULA_BEHIND.sub(r"\\x3b", visible(text))
    return "'" + shown if _FORMULA.match(shown) else shown
