"""What is asked of a store, in pages: no transaction stays open while the reader works."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, select

from leaderboard.database import Query
from leaderboard.schema import RESULTS, storable

PAGE = 256
"""Rows read at a time."""

ROWS = select(RESULTS.c.seq, RESULTS.c.id, RESULTS.c.checksum, RESULTS.c.record)
"""What reading a result takes."""


class Which(NamedTuple):
    """Which results are asked for; None for any."""

    problem: str | None = None
    """Slug of the problem."""
    author: str | None = None
    """Who submitted them."""
    verdict: str | None = None
    """The verdict, as the record has it."""
    dtype: str | None = None
    """Data type that [VAR] stood for."""
    solution_hash: str | None = None
    """SHA-256 of the submitted file."""
    device_kind: str | None = None
    """cuda or cpu."""
    device_name: str | None = None
    """Name of the device."""

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same, asked of the table."""
        asked = self._asdict().items()
        return [RESULTS.c[name] == storable(value) for name, value in asked if value is not None]


def page(*, after: int, problem: str | None = None) -> Query:
    """The query for the next rows after position ``after``."""
    query = ROWS.where(RESULTS.c.seq > after)
    if problem is not None:
        query = query.where(RESULTS.c.problem == problem)
    return query.order_by(RESULTS.c.seq).limit(PAGE)
