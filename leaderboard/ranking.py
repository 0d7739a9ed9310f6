"""Boards: from results to ranked rows.

A *board* holds what may be compared: one problem, data type, device (kind and name), harness major
version and baseline. All boards come together, one after the other.

What counts, in this order:

1. A result speaks for its solution (problem version, author, solution hash). A newer result of the
   same solution on the same board replaces the older, better or worse, so that submitting a file
   again and again does not collect lucky times. A newer result that is *not* accepted withdraws
   the solution, unless its verdict is ``INCONCLUSIVE``. Imported results do neither to one that
   was graded here; they count where there is none (:mod:`leaderboard.origin`). Names of authors
   that differ in letter case are one, shown as the first one was.
2. Only the current version of a problem is ranked: the one named by the caller, else the one whose
   first result is the newest. Accepted results of another version are listed without a rank.
3. Each author has one row a board, the best: a ranked one before an unranked one, the current
   version before others, then the higher speed-up. ``all_entries`` lists them all; authors then
   compete with themselves too.
4. Rank = 1 + the number of entries that beat it (:mod:`leaderboard.ties`), by the spread of the
   device, on all boards of which grades of the same files tell it (:mod:`leaderboard.spread`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from harness.text.names import key
from leaderboard.board import COLUMNS, KEY, BoardKey, BoardRow, by_board, rows
from leaderboard.csvfile import read_csv, to_csv
from leaderboard.entry import entry
from leaderboard.origin import counting, first_spelling
from leaderboard.spread import with_spread
from leaderboard.ties import ranks, standard_errors

if TYPE_CHECKING:
    from harness.records.result import Result

__all__ = [
    "COLUMNS", "BoardKey", "BoardRow", "Frame", "board", "by_board", "entries_frame", "histories",
    "ranked",    "read_csv", "rows", "to_csv",
]  # fmt: skip

Frame = pd.DataFrame
"""What boards and entries are, for those who do not import pandas."""

OTHER_VERSION = "measured on another version of the problem: submit it again"
"""The reason why entries of other versions of a problem are not ranked."""

ENTRY_TYPES: Mapping[str, str] = {
    **{name: kind for name, kind in COLUMNS.items() if name not in ("rank", "grade_spread")},
    "accepted": "bool", "conclusive": "bool", "model": "str", "verdict": "str", "reason": "str",
}  # fmt: skip
"""Columns of a frame of entries, with their types in pandas."""


def board(
    results: Iterable[Result],
    *,
    problem: str | None = None,
    all_entries: bool = False,
    current: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Rank ``results``, in whatever order they come.

    Args:
        results: any results, accepted or not; the same id twice counts once.
        problem: slug; only this problem's boards (other problems' results tell of the device).
        all_entries: list every solution instead of each author's best.
        current: current hash by slug, for problems whose present version is known.

    Returns:
        A frame of :data:`COLUMNS`: boards sorted by their keys, in each ranked entries by rank,
        then by speed-up, then unranked ones.
    """
    entries = entries_frame(tuple(entry(each).values()) for each in results).drop_duplicates(
        "result"
    )
    return ranked(entries, problem=problem, all_entries=all_entries, current=current)


def entries_frame(rows: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """A frame of entries, each given as the values of :func:`leaderboard.entry.entry`."""
    frame = pd.DataFrame.from_records(list(rows), columns=list(ENTRY_TYPES))
    frame["date"] = pd.to_datetime(frame["date"], utc=True)
    return frame.astype(dict(ENTRY_TYPES))


def ranked(
    entries: pd.DataFrame,
    *,
    problem: str | None = None,
    all_entries: bool = False,
    current: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """As :func:`board`, of the entries that a store keeps, one of each result."""
    listed = standing(entries, problem=problem, current=current)
    return placed(listed, all_entries=all_entries)


def standing(
    entries: pd.DataFrame,
    *,
    problem: str | None = None,
    current: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The entries that stand on boards, every solution's last word, the best of a board first.

    Beside the columns of ``entries`` there are ``board`` (a number), ``unranked``, and ``first``:
    when the file was first accepted on the board.
    """
    table = with_spread(entries.sort_values(["date", "result"], ignore_index=True))
    table["author"] = first_spelling(table, "author")
    if problem is not None:
        table = table[table["problem"] == problem].reset_index(drop=True)
    table["place"] = table.groupby(KEY[:-1]).ngroup()
    table["board"] = table.groupby(["place", "baseline"]).ngroup()
    table["other_version"] = of_other_versions(table, current or {})
    table["unranked_reason"] = table["unranked_reason"].mask(table["other_version"], OTHER_VERSION)
    table["unranked"] = table["unranked_reason"] != ""
    # Sorting by several columns is stable: of those that are equal the older one stays first.
    return _last_words(table).sort_values(
        ["board", "unranked", "other_version", "speedup"], ascending=[True, True, True, False]
    )


def placed(listed: pd.DataFrame, *, all_entries: bool = False) -> pd.DataFrame:
    """The boards of the entries that stand on them (:func:`standing`), with ranks."""
    if not all_entries:
        listed = listed.drop_duplicates(["board", "author"])
    listed = listed.assign(rank=_ranks(listed))
    listed["grade_spread"] = listed["grade_spread"].where(listed["rank"].notna())
    listed = listed.sort_values(["board", "unranked", "rank"], ignore_index=True)
    return listed[list(COLUMNS)]


def histories(
    entries: pd.DataFrame, *, all_entries: bool = False
) -> dict[tuple[BoardKey, str, str], list[float]]:
    """The accepted speed-ups on a board, oldest first, by board, author's key and solution.

    The solution is empty but with ``all_entries``: then each file name has its own.
    """
    timed = entries[entries["accepted"] & entries["speedup"].notna()].sort_values("date")
    timed = timed[counting(timed, [*KEY, "author"])]
    found: dict[tuple[BoardKey, str, str], list[float]] = {}
    names = [*KEY, "author", "solution", "speedup"]
    for *board, author, solution, speedup in timed[names].itertuples(index=False, name=None):
        place = BoardKey(*board), key(author), solution if all_entries else ""
        found.setdefault(place, []).append(speedup)
    return found


def of_other_versions(entries: pd.DataFrame, current: Mapping[str, str]) -> pd.Series[bool]:
    """Whether each entry was measured on another version of its problem than the current one."""
    # The current version follows from all results, accepted or not.
    dates = entries["date"].where(counting(entries, ["problem"]))
    first = dates.groupby([entries["problem"], entries["problem_hash"]]).transform("min")
    newest = first.groupby(entries["problem"]).transform("max")
    known = entries["problem"].map(current)
    return (~(first >= newest)).where(known.isna(), entries["problem_hash"] != known)


def _last_words(by_age: pd.DataFrame) -> pd.DataFrame:
    """The accepted entries that are the last word on their solution, the oldest first."""
    judged = by_age[by_age["conclusive"]]
    # Not by board: a result that is not accepted has no baseline, and withdraws from all boards.
    file = ["place", "problem_hash", "author", "solution_hash"]
    judged = judged[counting(judged, file)]
    files = judged.groupby(file, sort=False)
    judged = judged.assign(file=files.ngroup(), age=judged.index)
    accepted = judged[judged["accepted"]]
    first = accepted.groupby(["file", "board"], sort=False)["date"].transform("first")
    accepted = accepted.assign(first=first).drop_duplicates(["file", "board"], keep="last")
    withdrawn = judged[~judged["accepted"]].groupby("file")["age"].max()
    return accepted[~(accepted["file"].map(withdrawn) > accepted["age"])]


def _ranks(listed: pd.DataFrame) -> pd.Series[int]:
    """The rank of each entry among the ranked ones of its board; missing for the others."""
    entries = listed[~listed["unranked"]]
    scores = np.log(entries["speedup"].to_numpy())
    errors = standard_errors(entries["speedup_low"].to_numpy(), entries["speedup_high"].to_numpy())
    spreads = entries["grade_spread"].to_numpy()
    found = np.ones(len(entries), dtype=np.int64)
    for places in entries.groupby("board").indices.values():
        if len(places) > 1:
            found[places] = ranks(scores[places], errors[places], spread=spreads[places[0]])
    return pd.Series(found, entries.index, "Int64").reindex(listed.index)
