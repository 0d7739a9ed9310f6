"""Boards: from results to ranked rows.

A *board* holds what may be compared: one problem, data type, device (kind and name), harness major
version and baseline. All boards come in one frame, one after the other.

What counts, in this order:

1. A result speaks for its solution (problem version, author, solution hash). A newer result of the
   same solution on the same board replaces the older, better or worse, so that submitting a file
   again and again does not collect lucky times. A newer result that is *not* accepted withdraws
   the solution, unless it says nothing about it (``SILENT``).
2. Only the current version of a problem is ranked: the one named by the caller, else the one whose
   first result is the newest. Accepted results of another version are listed without a rank.
3. Each author has one row a board, the best: a ranked one before an unranked one, the current
   version before others, then the higher speed-up. ``all_entries`` lists them all; authors then
   compete with themselves too.
4. Rank = 1 + the number of entries that beat it (:mod:`leaderboard.ties`).
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from harness.result import Result
from leaderboard.columns import COLUMNS
from leaderboard.csvfile import read_csv, to_csv
from leaderboard.standing import SILENT, Standing, standing
from leaderboard.ties import ranks, standard_errors

__all__ = ["COLUMNS", "SILENT", "board", "ranked", "read_csv", "rows", "to_csv"]

KEY = ["problem", "dtype", "device_kind", "device", "harness_major", "baseline"]
"""The columns that make a board."""


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
        problem: slug; only this problem's boards.
        all_entries: list every solution instead of each author's best.
        current: current hash by slug, for problems whose present version is known.

    Returns:
        The columns ``COLUMNS``; boards sorted by ``KEY``, in each ranked entries by rank, then by
        speed-up, then unranked ones.
    """
    standings = (standing(r) for r in results if problem is None or r.problem.slug == problem)
    return ranked(standings, all_entries=all_entries, current=current)


def ranked(
    standings: Iterable[Standing],
    *,
    all_entries: bool = False,
    current: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """As :func:`board`, of what a store keeps for boards."""
    frame = _frame(list(standings))
    frame = _latest_words(frame)
    frame = _flag_other_versions(frame, current or {})
    frame = _in_order(frame)
    if not all_entries:
        frame = frame.drop_duplicates([*KEY, "author"], keep="first")
    frame = _with_ranks(frame)
    return frame[list(COLUMNS)].astype(dict(COLUMNS)).reset_index(drop=True)


def rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """The rows of a board as plain Python values: missing is None, dates are datetimes."""
    columns = [_plain(frame[name]) for name in frame.columns]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(column: pd.Series) -> list[object]:
    if pd.api.types.is_datetime64_any_dtype(column):
        values = pd.DatetimeIndex(column).to_pydatetime().tolist()
    else:
        values = column.tolist()
    missing = column.isna()
    if not missing.any():
        return values
    return [None if gone else value for gone, value in zip(missing, values, strict=True)]


def _frame(standings: list[Standing]) -> pd.DataFrame:
    frame = pd.DataFrame(standings, columns=list(Standing._fields))
    frame["date"] = pd.to_datetime(frame["date"], utc=True, format="ISO8601")
    types = {name: kind for name, kind in COLUMNS.items() if name != "rank"}
    frame = frame.astype({**types, "accepted": "bool", "speaks": "bool"})
    frame = frame.drop_duplicates("result")
    return frame.sort_values(_by_age(frame))


def _by_age(frame: pd.DataFrame) -> list[str]:
    """The columns that put results in the order of their dates; without ids where dates differ."""
    return ["date"] if frame["date"].is_unique else ["date", "result"]


def _latest_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Accepted results that are the last word on their solution (oldest first in, and out)."""
    # Without the baseline: a result that is not accepted has none, and withdraws from all boards.
    place = [name for name in KEY if name != "baseline"]
    solution = [*place, "problem_hash", "author", "solution_hash"]
    # The current version is told from all results, accepted or not.
    frame = frame.assign(
        first_seen=frame.groupby(["problem", "problem_hash"])["date"].transform("min")
    )
    frame = frame.assign(newest=frame.groupby("problem")["first_seen"].transform("max"))
    spoken = frame[frame["speaks"]].reset_index(drop=True)
    refused = spoken[~spoken["accepted"]].drop_duplicates(solution, keep="last")
    if refused.empty:
        return spoken.drop_duplicates([*solution, "baseline"], keep="last")
    withdrawn = pd.Series(refused.index, index=pd.MultiIndex.from_frame(refused[solution]))
    last = spoken[spoken["accepted"]].drop_duplicates([*solution, "baseline"], keep="last")
    later = withdrawn.reindex(pd.MultiIndex.from_frame(last[solution])).to_numpy()
    return last[~(later > last.index.to_numpy())]


def _flag_other_versions(frame: pd.DataFrame, current: Mapping[str, str]) -> pd.DataFrame:
    known = frame["problem"].map(dict(current))
    old = (
        (frame["problem_hash"] != known)
        .where(frame["problem"].isin(list(current)), frame["first_seen"] < frame["newest"])
        .astype(bool)
    )
    reason = "measured on another version of the problem: submit it again"
    return frame.assign(
        other_version=old, unranked_reason=frame["unranked_reason"].mask(old, reason)
    )


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Boards one after the other; on each the best first, by what is known before ranking."""
    frame = frame.assign(unranked=frame["unranked_reason"] != "")
    by = [*KEY, "unranked", "other_version", "speedup", *_by_age(frame)]
    ascending = [name != "speedup" for name in by]
    return frame.sort_values(by, ascending=ascending, na_position="last")


def _with_ranks(frame: pd.DataFrame) -> pd.DataFrame:
    # Boards lie one after the other, so a number tells them apart, and sooner than their names.
    starts = (frame[KEY] != frame[KEY].shift()).any(axis=1)
    frame = frame.assign(
        rank=pd.Series(pd.NA, index=frame.index, dtype="Int64"), board=starts.cumsum()
    )
    ranked = frame[~frame["unranked"]]
    for _, entries in ranked.groupby("board", sort=False):
        scores = np.log(entries["speedup"].to_numpy(dtype=np.float64))
        errors = standard_errors(
            entries["speedup_low"].to_numpy(dtype=np.float64),
            entries["speedup_high"].to_numpy(dtype=np.float64),
        )
        frame.loc[entries.index, "rank"] = ranks(scores, errors)
    by = ["board", "unranked", "rank"]
    return frame.sort_values(by, kind="stable", na_position="last")
