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

Numbers are written in full: what :func:`read_csv` returns equals the frame that was written, but
for the escapes.
"""

import contextlib
import re
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from harness.visible import visible
from leaderboard.columns import COLUMNS

_FORMULA = re.compile(r"[\s']*[=+\-@＝＋－＠]|'")
_PLAIN = re.compile(r"(?:(?:[A-Za-z0-9][A-Za-z0-9._+-]*)?\n)*")
_NOTHING = '""'
_FORMULA_BEHIND = re.compile(r";(?=[\s'\"]*[=+\-@＝＋－＠])")


def to_csv(frame: pd.DataFrame, file: str | Path | IO[str]) -> None:
    """Write ``frame`` with a header and without its index; dates in ISO 8601.

    Raises:
        OSError: the file cannot be written.
    """
    # Column by column: pandas takes ten times as long, and the csv module, row by row, three.
    columns = [_cells(frame[name]) for name in frame.columns]
    header = ",".join(_quoted(str(name)) for name in frame.columns)
    lines = [header, *map(",".join, zip(*columns, strict=True)), ""]
    with contextlib.ExitStack() as opened:
        if isinstance(file, str | Path):
            file = opened.enter_context(open(file, "w", encoding="utf-8", newline=""))
        file.write("\n".join(lines))


def _are_plain(texts: list[str]) -> bool:
    """Whether all are as they may stand in cells, as hashes, ids and most names are."""
    together = "\n".join(texts) + "\n"
    return together.count("\n") == len(texts) and _PLAIN.fullmatch(together) is not None


def _cells(column: pd.Series) -> list[str]:
    """What is written of a column; what is missing is an empty cell, with quotes around it."""
    if pd.api.types.is_datetime64_any_dtype(column):
        moments = column.dt.tz_localize(None).to_numpy()  # pandas asks strftime for each
        return [f'"{moment}+0000"' for moment in np.datetime_as_string(moments, unit="us")]
    values = column.tolist()
    if pd.api.types.is_string_dtype(column):
        distinct = set(values)  # most columns say the same in many rows
        if 2 * len(distinct) > len(values) and _are_plain(values):
            return [f'"{text}"' for text in values]
        shown = {text: _quoted(neutral(text)) for text in distinct}
        return [shown[text] for text in values]
    missing = column.isna()
    if not missing.any():
        return list(map(repr, values))
    return [_NOTHING if gone else repr(value) for gone, value in zip(missing, values, strict=True)]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def read_csv(file: str | Path | IO[str]) -> pd.DataFrame:
    """Read a board that :func:`to_csv` wrote, with the types it had.

    Raises:
        ValueError: this is not a board.
        OSError: the file cannot be read.
    """
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


def _values(cells: pd.Series, kind: str) -> pd.Series:
    if kind == "str":
        return cells.str.removeprefix("'")
    if kind.startswith("datetime"):
        return pd.to_datetime(cells, utc=True, format="ISO8601")
    return cells.map(lambda cell: float(cell) if cell else None).astype("float64")


def neutral(text: str) -> str:
    """``text`` as it may stand in a cell: nothing hidden, nothing that is a formula."""
    shown = _FORMULA_BEHIND.sub(r"\\x3b", visible(text))
    return "'" + shown if _FORMULA.match(shown) else shown
