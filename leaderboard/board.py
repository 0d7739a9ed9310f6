"""Boards that are made: which standings are on them, in their order, with their ranks."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leaderboard.columns import COLUMNS
from leaderboard.standing import WIDTHS
from leaderboard.standings import Standings, columns, few_columns

if TYPE_CHECKING:
    import pandas as pd

OTHER_VERSION = "measured on another version of the problem: submit it again"
"""The reason why entries of other versions of a problem are not ranked."""


@dataclass(frozen=True, slots=True, eq=False)
class Boards:
    """Boards one after the other, in each the ranked entries by rank, then the unranked ones.

    ``listed`` are the places of their entries in ``standings``, ``ranks`` their ranks, 0 for those
    without. ``other_version`` says of all ``standings`` whether they are of another version of the
    problem than the current one.
    """

    standings: Standings
    listed: NDArray[np.int64]
    ranks: NDArray[np.int64]
    other_version: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.listed)

    def parts(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """Of each entry what :class:`Standings` has as text: board, entry, reason, origin."""
        order = self.listed.tolist()
        standings = self.standings
        boards, entries, reasons, origins = (
            [part[at] for at in order]
            for part in (standings.boards, standings.entries, standings.reasons, standings.origins)
        )
        for place in np.flatnonzero(self.other_version[self.listed]).tolist():
            reasons[place] = json.dumps(OTHER_VERSION)
        return boards, entries, reasons, origins

    def columns(self) -> dict[str, list[object]]:
        """The values of each of :data:`COLUMNS`: dates are datetimes, what is missing is None."""
        boards, entries, reasons, origins = self.parts()
        values = [
            *few_columns(boards, WIDTHS[0]),
            [rank or None for rank in self.ranks.tolist()],
            *columns(entries, WIDTHS[1]),
            *few_columns(reasons, WIDTHS[2]),
            *columns(origins, WIDTHS[3]),
        ]
        return {
            name: _plain(column, kind)
            for (name, kind), column in zip(COLUMNS.items(), values, strict=True)
        }

    def frame(self) -> "pd.DataFrame":
        """The same as a frame with the types that :data:`COLUMNS` says."""
        import pandas as pd

        return pd.DataFrame(self.columns()).astype(dict(COLUMNS))


def _plain(column: list[object], kind: str) -> list[object]:
    if kind == "float64":
        return [None if value != value else value for value in column]  # NaN
    if kind.startswith("datetime"):
        return [datetime.fromisoformat(str(value)) for value in column]
    return column


def rows(boards: Boards) -> list[dict[str, object]]:
    """The rows of boards as plain Python values: missing is None, dates are datetimes."""
    values = boards.columns()
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
