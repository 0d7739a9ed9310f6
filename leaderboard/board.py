"""A row of a board, and the columns that users of CSV and JSON may rely on. Needs no pandas."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class BoardKey:
    """What the entries of one board have in common: they may be compared."""

    problem: str
    """Slug of the problem."""
    dtype: str
    """Data type that [VAR] stood for."""
    device_kind: str
    """cuda or cpu: never on one board."""
    device: str
    """Name of the device."""
    harness_major: str
    """First number of `harness`."""
    baseline: str
    """What the speed-up is over; empty if nothing was timed."""

    @property
    def emulated(self) -> bool:
        """Whether its times are functional, and say nothing about a GPU."""
        return self.device_kind == "cpu"


@dataclass(frozen=True, slots=True)
class BoardRow(BoardKey):
    """One entry of a board. Fields are the columns of CSV and JSON; new ones come at the end."""

    rank: int | None
    """1 is best, ties share; missing: not ranked."""
    author: str
    """Who submitted it."""
    solution: str
    """Name of the submitted file."""
    language: str
    """`cuda`, `triton` or `python`."""
    time_us: float | None
    """Geometric mean of the times per call over the shapes, microseconds."""
    speedup: float | None
    """Geometric mean of the speed-ups over `baseline`."""
    speedup_low: float | None
    """The lower end of its 95 % interval."""
    speedup_high: float | None
    """The interval's upper end."""
    unranked_reason: str
    """Why it is not ranked; empty for ranked entries."""
    date: datetime
    """When it was graded, in UTC."""
    problem_hash: str
    """Version of the problem that it was measured on."""
    solution_hash: str
    """SHA-256 of the submitted file."""
    harness: str
    """Version that graded."""
    result: str
    """Id of the result in the store."""
    sol_fraction: float | None
    """Geometric mean of the fractions of the speed of light (SOL); missing: not known."""
    grade_spread: float | None
    """Scatter of log scores between grades on this device, for ranks; missing: not ranked."""
    origin: str = ""
    """What it was imported from; empty if it was graded here."""
    libraries: str = ""
    """The CUDA libraries that it uses, `cublasLt, cutlass`; empty for none."""

    @property
    def written_in(self) -> str:
        """The language with the libraries, for people: ``cuda + cutlass``."""
        return " + ".join(filter(None, (self.language, self.libraries)))

    @property
    def key(self) -> BoardKey:
        """The board that it is on."""
        return BoardKey(*(getattr(self, name) for name in KEY))

    def cells(self) -> dict[str, object]:
        """The values by column."""
        return {name: getattr(self, name) for name in COLUMNS}


_DTYPES: Mapping[object, str] = {
    str: "str",
    int | None: "Int64",
    float | None: "float64",
    datetime: "datetime64[us, UTC]",
}

COLUMNS: Mapping[str, str] = {each.name: _DTYPES[each.type] for each in fields(BoardRow)}
"""Columns of a board in their order, with the types that pandas gives them."""

KEY = [each.name for each in fields(BoardKey)]
"""The columns that make a board."""


def rows(boards: "pd.DataFrame") -> list[BoardRow]:
    """The rows of ranked ``boards`` as records; what is missing is None."""
    columns = [plain_values(boards[name], kind) for name, kind in COLUMNS.items()]
    return [BoardRow(*values) for values in zip(*columns, strict=True)]


def plain_values(column: "pd.Series", kind: str) -> list[Any]:
    """The values of a column of this pandas type as Python's own; what is missing is None."""
    import pandas as pd

    if kind.startswith("datetime"):
        return list(pd.DatetimeIndex(column).to_pydatetime())
    missing = column.isna()
    if not missing.any():
        return column.tolist()
    return column.astype(object).where(~missing, None).tolist()


def by_board(rows: Iterable[BoardRow]) -> Iterator[tuple[BoardKey, list[BoardRow]]]:
    """The rows of each board, which lie one after the other."""
    for key, group in groupby(rows, attrgetter(*KEY)):
        yield BoardKey(*key), list(group)
