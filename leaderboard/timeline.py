"""Boards and authors over time: who took the lead when, and what an author has had accepted.

A file counts from the day on which it was first accepted on its board, with the speed-up that it
has now: grading it again moves no date, and what was withdrawn or invalidated never led.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.board import COLUMNS, BoardKey, BoardRow, by_board, rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AuthorHistory", "Timeline"]


@dataclass(frozen=True, slots=True)
class AuthorHistory:
    """What an author has submitted."""

    accepted: tuple[BoardRow, ...] = ()
    """Every accepted result that counts, the newest first; none has a rank."""
    results: int = 0
    """All that count, accepted or not."""


class Timeline:
    """What happened on the boards of a store, asked for when it is shown.

    Args:
        entries: of all results that count (:func:`leaderboard.ranking.entries_frame`).
        listed: those that stand on boards (:func:`leaderboard.ranking.standing`).
    """

    def __init__(self, entries: pd.DataFrame, listed: pd.DataFrame) -> None:
        self._entries = entries
        self._listed = listed

    def leads(self) -> Mapping[BoardKey, tuple[BoardRow, ...]]:
        """The entries that took the lead of each board, the first one first.

        Their ``date`` is when they did; ranked entries count, of the problem's current version.
        """
        ranked = self._listed[~self._listed["unranked"]]
        ranked = ranked.sort_values(["board", "first", "speedup"], ascending=[True, True, False])
        before = ranked.groupby("board")["speedup"].cummax().groupby(ranked["board"]).shift()
        taken = ranked[~(ranked["speedup"] <= before)]
        led = _rows(taken.assign(date=taken["first"]))
        return {key: tuple(group) for key, group in by_board(led)}

    def authors(self, names: Collection[str]) -> Mapping[str, AuthorHistory]:
        """The history of each of these authors, as boards spell them."""
        from harness.text.names import key

        wanted = {key(name): name for name in names}
        spelled = {name: wanted.get(key(name)) for name in self._entries["author"].unique()}
        named = self._entries["author"].map(spelled)
        own = self._entries[named.notna()].assign(author=named[named.notna()])
        own = own.drop_duplicates("result").sort_values(["date", "result"], ascending=False)
        found = {name: AuthorHistory() for name in names}
        for name, group in own.groupby("author"):
            accepted = tuple(_rows(group[group["accepted"]]))
            found[str(name)] = AuthorHistory(accepted, len(group))
        return found


def _rows(entries: pd.DataFrame) -> list[BoardRow]:
    known = entries.reindex(columns=list(COLUMNS))
    unranked = {"rank": None, "grade_spread": None}
    return rows(known.assign(**unranked).astype(dict(COLUMNS)))
