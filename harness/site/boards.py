"""Boards as a page shows them: their files, pages, ranks and bars, from the rows of boards."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from harness.text import names
from leaderboard.board import KEY, BoardKey, BoardRow, by_board

PAGE_ROWS = 100
"""Entries on one page of a board, which then has at most 120 kB."""

INDEX_ROWS = 60
"""Boards on one of the first pages, which have the problems, too."""

ENTRY_PLACES = 100
"""Entries of a board, from its top, that have a page of their own."""

BAR_WIDTH = 140
"""Units of the bars' own scale, which begins at 0."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # what a problem's front matter may say


class Bar(NamedTuple):
    """Places on the bars' scale: the value, the ends of its interval, and where 1× is."""

    value: float
    low: float
    high: float
    unit: float


@dataclass(frozen=True)
class Board(BoardKey):
    """A board: what may be compared, and its rows, the best first."""

    rows: tuple[BoardRow, ...]
    """At least one."""
    leads: tuple[BoardRow, ...] = ()
    """The entries that took the lead, the first one first; ``date`` is when."""

    @cached_property
    def name(self) -> str:
        """Name of its files without their ending: letters, digits and ``-`` of ours."""
        parts = (self.problem, self.dtype, self.device_kind)
        readable = "-".join(filter(None, map(slug, parts)))
        return f"{readable}-{digest(*(getattr(self, name) for name in KEY))}"

    @property
    def pages(self) -> int:
        """How many pages it takes."""
        return pages_of(len(self.rows), PAGE_ROWS)

    def links(self, page: int) -> "list[PageLink]":
        """Ways from ``page`` to the others."""
        return page_links(self.name, len(self.rows), PAGE_ROWS, page)

    def file(self, page: int = 0) -> str:
        """Name of the file of a page, the first is 0."""
        return page_file(self.name, page)

    def entries(self, page: int) -> Sequence[BoardRow]:
        """The rows on a page."""
        return self.rows[page * PAGE_ROWS : (page + 1) * PAGE_ROWS]

    @property
    def top(self) -> Sequence[BoardRow]:
        """The rows whose entries have pages of their own."""
        return self.rows[:ENTRY_PLACES]

    def rank(self, row: BoardRow) -> str:
        """The rank of ``row``, as it is shown: ``2=`` for a shared one, – for none."""
        return "–" if row.rank is None else f"{row.rank}{'=' if self._shared[row.rank] > 1 else ''}"

    def bar(self, row: BoardRow) -> Bar | None:
        """The speed-up of ``row`` as a bar; None if nothing was timed."""
        value, low, high = map(_finite, (row.speedup, row.speedup_low, row.speedup_high))
        if value is None:
            return None
        most = self.scale_end
        ends = (value, 0.0 if low is None else low, most if high is None else high, 1.0)
        return Bar(*[min(max(end / most, 0.0), 1.0) * BAR_WIDTH for end in ends])

    @cached_property
    def origin(self) -> str:
        """What all entries were imported from; empty where that differs, or is nothing."""
        origins = {row.origin for row in self.rows}
        return origins.pop() if len(origins) == 1 else ""

    @cached_property
    def languages(self) -> list[str]:
        """What its entries are written in, sorted."""
        return sorted({row.language for row in self.rows})

    @property
    def newest(self) -> datetime:
        """When the newest entry was graded."""
        return max(row.date for row in self.rows)

    @cached_property
    def scale_end(self) -> float:
        """The end of the bars' scale: 1, or the highest bound of all entries that are ranked."""
        ends = (row.speedup if row.rank is None else row.speedup_high for row in self.rows)
        return max([1.0, *(end for end in map(_finite, ends) if end is not None)])

    @cached_property
    def _shared(self) -> Counter[int | None]:
        return Counter(row.rank for row in self.rows)


def boards_of(
    rows: Iterable[BoardRow], leads: Mapping[BoardKey, tuple[BoardRow, ...]] | None = None
) -> list[Board]:
    """The boards in ``rows``, in their order, in which each board's rows lie together."""
    return [
        Board(**asdict(key), rows=tuple(group), leads=(leads or {}).get(key, ()))
        for key, group in by_board(rows)
    ]


def slug(text: str) -> str:
    """Letters, digits and ``-``, at most 40: what may stand in the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", text[:200].lower())[:40].strip("-")


def pages_of(count: int, each: int) -> int:
    """How many pages a list takes, at least one."""
    return max(1, math.ceil(count / each))


def page_file(name: str, page: int) -> str:
    """Name of the file of a page, the first is 0."""
    return f"{name}.html" if page == 0 else f"{name}-{page + 1}.html"


class PageLink(NamedTuple):
    """A way to a page of a list; ``file`` is None for the page itself and for a gap."""

    places: str
    file: str | None = None


def page_links(name: str, count: int, each: int, page: int) -> list[PageLink]:
    """Ways from ``page`` to the first, the last and the next pages: ``101–200`` and ``…``."""
    last = pages_of(count, each) - 1
    near = range(max(page - 2, 0), min(page + 2, last) + 1)
    shown = sorted({0, *near, last})
    links = []
    for before, number in zip([-1, *shown], shown, strict=False):
        if number > before + 1:
            links.append(PageLink("…"))
        places = f"{number * each + 1}–{min((number + 1) * each, count)}"
        links.append(PageLink(places, None if number == page else page_file(name, number)))
    return links


def index_pages(boards: Sequence[Board]) -> int:
    """How many first pages there are."""
    return pages_of(len(boards), INDEX_ROWS)


def index_links(boards: Sequence[Board], page: int) -> list[PageLink]:
    """Ways from one of the first pages to the others."""
    return page_links("index", len(boards), INDEX_ROWS, page)


def on_index(boards: Sequence[Board], page: int) -> Sequence[Board]:
    """The boards on one of the first pages."""
    return boards[page * INDEX_ROWS : (page + 1) * INDEX_ROWS]


def entry_stem(board: Board, result: str) -> str:
    """How the names of the files of an entry begin: letters, digits and ``-`` of ours."""
    return "-".join(filter(None, (slug(board.problem), digest(board.name, result))))


def author_name(author: str) -> str:
    """Name of the files of an author without their ending."""
    return "-".join(filter(None, (slug(author), digest(names.key(author)))))


def problem_file(slug_: str) -> str:
    """Name of the file of a problem: its slug, if that is one."""
    return f"{slug_ if _SLUG.fullmatch(slug_) else digest(slug_)}.html"


def digest(*parts: str) -> str:
    """A name of our own for what others named: the first 16 digits of a SHA-256."""
    whole = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
