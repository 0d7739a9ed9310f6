"""Boards as a page shows them: places, bars and texts, from the plain rows of a ranking.

A row is what ``leaderboard.ranking.rows`` yields: the columns of a board by name, None for what is
missing.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple

from harness.records.measurement import Interval
from harness.text import numbers

Row = Mapping[str, object]

KEY = ("problem", "dtype", "device_kind", "device", "harness_major", "baseline")

PAGE_ROWS = 1000
"""Entries on one page of a board: a table that a phone can still sort."""

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


class Line(NamedTuple):
    """One row of a board. Texts are as they came; numbers to sort by are empty where missing."""

    rank: str
    place: str
    author: str
    solution: str
    result: str
    language: str
    bar: Bar | None
    speedup: str
    speedup_by: str
    time: str
    time_by: str
    light: str
    light_by: str
    date: str
    moment: str
    reason: str


@dataclass(frozen=True)
class Board:
    """What may be compared: one problem, data type, device, major version and baseline."""

    problem: str
    dtype: str
    device_kind: str
    device: str
    harness_major: str
    baseline: str
    rows: tuple[Row, ...]

    @property
    def cpu(self) -> bool:
        """Whether its times are functional, and say nothing about a GPU."""
        return self.device_kind == "cpu"

    @cached_property
    def name(self) -> str:
        """Name of its files without their ending: letters, digits and ``-`` of ours."""
        parts = (self.problem, self.dtype, self.device_kind)
        told = "-".join(filter(None, map(slug, parts)))
        key = [*parts, self.device, self.harness_major, self.baseline]
        return f"{told}-{digest(*key)}"

    @property
    def pages(self) -> int:
        """How many pages it takes."""
        return max(1, math.ceil(len(self.rows) / PAGE_ROWS))

    def file(self, page: int = 0) -> str:
        """Name of the file of a page, the first is 0."""
        return f"{self.name}.html" if page == 0 else f"{self.name}-{page + 1}.html"

    def lines(self, page: int) -> Iterator[Line]:
        """The entries of a page."""
        for row in self.rows[page * PAGE_ROWS : (page + 1) * PAGE_ROWS]:
            yield _line(row, self._shared, self.most)

    @property
    def top(self) -> dict[str, str]:
        """Ids of the results that have pages of their own, each with its rank as it is shown."""
        return {str(row["result"]): _rank(row, self._shared) for row in self.rows[:ENTRY_PLACES]}

    @property
    def best(self) -> Line:
        """Its first row."""
        return _line(self.rows[0], self._shared, self.most)

    @property
    def newest(self) -> datetime:
        """When the newest entry was graded."""
        return max(row["date"] for row in self.rows if isinstance(row["date"], datetime))

    @cached_property
    def most(self) -> float:
        """The end of the bars' scale: the highest bound of all entries that are ranked, or 1."""
        ends = [
            number(row, "speedup_high" if row["rank"] is not None else "speedup")
            for row in self.rows
        ]
        return max([1.0, *(end for end in ends if end is not None)])

    @cached_property
    def _shared(self) -> Counter[object]:
        return Counter(row["rank"] for row in self.rows)


def boards_of(rows: Iterable[Row]) -> list[Board]:
    """The boards in ``rows``, in their order, in which each board's rows lie together."""
    return [
        Board(**{name: str(part) for name, part in zip(KEY, key, strict=True)}, rows=tuple(group))
        for key, group in groupby(rows, key=lambda row: tuple(row[name] for name in KEY))
    ]


def slug(text: str) -> str:
    """Letters, digits and ``-``, at most 40: what may stand in the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", text[:200].lower())[:40].strip("-")


def problem_file(slug_: str) -> str:
    """Name of the file of a problem: its slug, if that is one."""
    return f"{slug_ if _SLUG.fullmatch(slug_) else digest(slug_)}.html"


def digest(*parts: str) -> str:
    """A name of our own for what others named: the first 16 digits of a SHA-256."""
    whole = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def number(row: Row, name: str) -> float | None:
    """The finite number in a column, None for anything else."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _line(row: Row, shared: Counter[object], most: float) -> Line:
    rank = row["rank"]
    speedup, time_us, light = (
        number(row, "speedup"),
        number(row, "time_us"),
        number(row, "sol_fraction"),
    )
    low, high = row.get("speedup_low"), row.get("speedup_high")
    told = ""
    if speedup is not None and isinstance(low, float) and isinstance(high, float):
        told = numbers.ratio(Interval(value=speedup, low=low, high=high))
    date = row["date"]
    moment = f"{date:%Y-%m-%dT%H:%M:%SZ}" if isinstance(date, datetime) else ""
    return Line(
        rank=_rank(row, shared),
        place="" if rank is None else str(rank),
        author=str(row["author"]),
        solution=str(row["solution"]),
        result=str(row["result"]),
        language=str(row["language"]),
        bar=None if speedup is None else _bar(row, speedup, most),
        speedup=told,
        speedup_by=_by(speedup),
        time="" if time_us is None else numbers.seconds(time_us * 1e-6),
        time_by=_by(time_us),
        light="" if light is None else f"{light * 100:.0f} %",
        light_by=_by(light),
        date=moment[:10],
        moment=moment,
        reason="" if rank is not None else str(row.get("unranked_reason") or "unknown reason"),
    )


def _rank(row: Row, shared: Counter[object]) -> str:
    rank = row["rank"]
    return "–" if rank is None else f"{rank}{'=' if shared[rank] > 1 else ''}"


def _bar(row: Row, speedup: float, most: float) -> Bar:
    low, high = number(row, "speedup_low"), number(row, "speedup_high")
    ends = (speedup, 0.0 if low is None else low, most if high is None else high, 1.0)
    return Bar(*[min(max(end / most, 0.0), 1.0) * BAR_WIDTH for end in ends])


def _by(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
