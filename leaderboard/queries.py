"""What is asked of a store, in pages: no transaction stays open while the reader works."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select

from leaderboard.schema import RESULTS, RULINGS, STANDINGS, storable
from leaderboard.standing import FORM

PAGE = 256
"""Rows read at a time."""

STANDINGS_PAGE = 8192
"""The same of standings, which are small."""

ROWS = select(RESULTS.c.seq, RESULTS.c.id, RESULTS.c.checksum, RESULTS.c.record)
"""What reading a result takes."""


class Which(NamedTuple):
    """Which results are asked for; None for any."""

    problem: str | None = None
    author: str | None = None
    verdict: str | None = None
    dtype: str | None = None
    solution_hash: str | None = None
    device_kind: str | None = None
    device_name: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same, asked of the table."""
        asked = self._asdict().items()
        return [RESULTS.c[name] == storable(value) for name, value in asked if value is not None]


def page(*, after: int, problem: str | None) -> Select[Any]:
    """The query for the next rows after position ``after``."""
    query = ROWS.where(RESULTS.c.seq > after)
    if problem is not None:
        query = query.where(RESULTS.c.problem == problem)
    return query.order_by(RESULTS.c.seq).limit(PAGE)


def count_of(problem: str | None) -> Select[int]:
    """The query for the number of results."""
    query = select(func.count()).select_from(RESULTS)
    return query if problem is None else query.where(RESULTS.c.problem == problem)


def standings_page(*, after: int, problem: str | None) -> Select[Any]:
    """The query for the next standings after position ``after``."""
    columns = (STANDINGS.c.seq, STANDINGS.c.standing, STANDINGS.c.checksum)
    query = select(*columns).where(STANDINGS.c.seq > after, STANDINGS.c.form == FORM)
    if problem is not None:
        query = query.where(STANDINGS.c.problem == problem)
    return query.order_by(STANDINGS.c.seq).limit(STANDINGS_PAGE)


def rulings_page(after: int) -> Select[Any]:
    """The query for the next rulings after position ``after``."""
    columns = (RULINGS.c.seq, RULINGS.c.id, RULINGS.c.result, RULINGS.c.checksum, RULINGS.c.record)
    return select(*columns).where(RULINGS.c.seq > after).order_by(RULINGS.c.seq).limit(PAGE)
