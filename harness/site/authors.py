"""An author as a page shows one: where the entries stand, and what was accepted when."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from harness.site.boards import Board, PageLink, author_name, page_file, page_links, pages_of
from leaderboard.board import BoardRow

if TYPE_CHECKING:
    from leaderboard.timeline import AuthorHistory

ROWS = 60
"""Rows of each of the two tables on a page."""


class Standing(NamedTuple):
    """An entry and the board that it is on."""

    board: Board
    row: BoardRow


@dataclass(frozen=True, slots=True)
class Author:
    """One who has an entry among the first of a board."""

    name: str
    """As boards spell it."""
    standings: Sequence[Standing]
    """The entries on boards, as the boards list them."""
    history: "AuthorHistory"
    """What was submitted."""

    @property
    def _most(self) -> int:
        return max(len(self.standings), len(self.history.accepted))

    @property
    def files(self) -> list[str]:
        """The file of each page."""
        return [page_file(author_name(self.name), n) for n in range(pages_of(self._most, ROWS))]

    def links(self, page: int) -> list[PageLink]:
        """Ways from ``page`` to the others."""
        return page_links(author_name(self.name), self._most, ROWS, page)

    @property
    def leading(self) -> int:
        """On how many boards an entry has the first rank, alone or not."""
        return len({each.board.name for each in self.standings if each.row.rank == 1})

    def entries(self, page: int) -> Sequence[Standing]:
        """Where the entries on a page stand."""
        return self.standings[page * ROWS : (page + 1) * ROWS]

    def accepted(self, page: int) -> Sequence[BoardRow]:
        """The accepted results on a page, the newest first."""
        return self.history.accepted[page * ROWS : (page + 1) * ROWS]
