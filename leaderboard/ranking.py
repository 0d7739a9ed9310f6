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
from typing import Any

import numpy as np
import pandas as pd

from harness.result import Result, Verdict
from leaderboard.columns import COLUMNS
from leaderboard.csvfile import read_csv, to_csv
from leaderboard.ties import ranks, standard_errors

__all__ = ["COLUMNS", "board", "read_csv", "rows", "to_csv"]

KEY = ["problem", "dtype", "device_kind", "device", "harness_major", "baseline"]
"""The columns that make a board."""

SILENT = frozenset(
    {Verdict.INTERNAL_ERROR, Verdict.NOT_EXECUTABLE_HERE, Verdict.INVALID_SUBMISSION}
)
"""Verdicts that do not withdraw an accepted solution: they tell of the machine or the request."""


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
    chosen = [r for r in results if problem is None or r.problem.slug == problem]
    frame = _frame(chosen)
    frame = _latest_words(frame)
    frame = _flag_other_versions(frame, current or {})
    frame = _in_order(frame)
    if not all_entries:
        frame = frame.drop_duplicates([*KEY, "author"], keep="first")
    frame = _with_ranks(frame)
    return frame[list(COLUMNS)].astype(dict(COLUMNS)).reset_index(drop=True)


def rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """The rows of a board as plain Python values: missing is None, dates are datetimes."""
    return [
        {key: _plain(value) for key, value in zip(frame.columns, row, strict=True)}
        for row in frame.itertuples(index=False, name=None)
    ]


def _plain(value: Any) -> object:
    if value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    return value.item() if isinstance(value, np.generic) else value


def _record(result: Result) -> dict[str, object]:
    score = result.score
    reason = "not timed" if score is None else score.unranked_reason
    return {
        "problem": result.problem.slug,
        "dtype": result.dtype,
        "device_kind": result.device.kind,
        "device": result.device.name,
        "harness_major": result.environment.harness.split(".")[0],
        "baseline": score.baseline if score else "",
        "author": result.solution.author,
        "solution": result.solution.name,
        "language": result.language,
        "time_us": score.time_s * 1e6 if score else np.nan,
        "speedup": score.speedup.value if score else np.nan,
        "speedup_low": score.speedup.low if score else np.nan,
        "speedup_high": score.speedup.high if score else np.nan,
        "unranked_reason": reason,
        "date": result.created,
        "problem_hash": result.problem.hash,
        "solution_hash": result.solution.hash,
        "harness": result.environment.harness,
        "result": result.id,
        "accepted": result.accepted,
        "speaks": result.verdict not in SILENT,
    }


def _frame(results: list[Result]) -> pd.DataFrame:
    columns = [*(name for name in COLUMNS if name != "rank"), "accepted", "speaks"]
    frame = pd.DataFrame([_record(result) for result in results], columns=columns)
    types = {name: kind for name, kind in COLUMNS.items() if name != "rank"}
    frame = frame.astype({**types, "accepted": "bool", "speaks": "bool"})
    return frame.drop_duplicates("result").sort_values(["date", "result"])


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
    by = [*KEY, "unranked", "other_version", "speedup", "date", "result"]
    ascending = [name != "speedup" for name in by]
    return frame.sort_values(by, ascending=ascending, na_position="last")


def _with_ranks(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.assign(rank=pd.Series(pd.NA, index=frame.index, dtype="Int64"))
    ranked = frame[~frame["unranked"]]
    for _, entries in ranked.groupby(KEY, sort=False):
        scores = np.log(entries["speedup"].to_numpy(dtype=np.float64))
        errors = standard_errors(
            entries["speedup_low"].to_numpy(dtype=np.float64),
            entries["speedup_high"].to_numpy(dtype=np.float64),
        )
        frame.loc[entries.index, "rank"] = ranks(scores, errors)
    by = [*KEY, "unranked", "rank"]
    return frame.sort_values(by, kind="stable", na_position="last")
