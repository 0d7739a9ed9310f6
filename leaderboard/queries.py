"""What is asked of a store, in pages: no transaction stays open while the reader works."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, exists, func, select

from leaderboard.schema import ENTRIES, RESULTS, RULINGS, storable

PAGE = 256
"""Rows read at a time."""

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


def entries_of(problem: str | None) -> Select[Any]:
    """The query for entries in the order of arrival: their columns but for ``seq``."""
    query = select(*list(ENTRIES.columns)[1:])
    if problem is not None:
        query = query.where(ENTRIES.c.problem == problem)
    return query.order_by(ENTRIES.c.seq)


def count_of(table: Table) -> Select[int]:
    """The query for the number of rows of ``table``."""
    return select(func.count()).select_from(table)


def without_entry(*, after: int) -> Select[Any]:
    """The query for the next results after position ``after`` that have no entry."""
    return page(after=after, problem=None).where(~exists().where(ENTRIES.c.seq == RESULTS.c.seq))


def rulings_page(after: int) -> Select[Any]:
    """The query for the next rulings after position ``after``."""
    columns = (RULINGS.c.seq, RULINGS.c.id, RULINGS.c.result, RULINGS.c.checksum, RULINGS.c.record)
    return select(*columns).where(RULINGS.c.seq > after).order_by(RULINGS.c.seq).limit(PAGE)
