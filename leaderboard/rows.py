"""The rows of a store: added once, asked for, and read if they still are what was written.

What is asked for comes in pages: no transaction stays open while the reader works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, func, insert, or_, select

from harness.text.names import key
from leaderboard.database import Query, StoredRow
from leaderboard.failures import StoreError
from leaderboard.schema import RESULTS, RULINGS, checksum, storable

if TYPE_CHECKING:
    from harness.records.result import Result
    from harness.records.ruling import Ruling

T = TypeVar("T", "Result", "Ruling")

PAGE = 256
"""Rows read at a time."""

ROWS = select(RESULTS.c.seq, RESULTS.c.id, RESULTS.c.checksum, RESULTS.c.record)
"""What reading a result takes."""


class CorruptRecord(NamedTuple):
    """A row that could not be read: its position, its id as stored, and what is wrong."""

    seq: int
    id: str
    reason: str


Report = Callable[[CorruptRecord], None]


def add_new(
    connection: Connection, table: Table, rows: Iterable[dict[str, str]], what: str
) -> dict[str, int]:
    """Insert those of ``rows`` that are not there yet; their numbers by id.

    Raises:
        StoreError: another row with the id of one is there, or among them.
    """
    wanted: dict[str, dict[str, str]] = {}
    for row in rows:
        _require_same(connection, row, wanted.setdefault(row["id"], row)["checksum"], what)
    there = select(table.c.id, table.c.checksum).where(table.c.id.in_(wanted))
    known = {row.id: row.checksum for row in connection.execute(there)}
    for known_id, known_checksum in known.items():
        _require_same(connection, wanted[known_id], known_checksum, what)
    new = [row for row in wanted.values() if row["id"] not in known]
    if not new:
        return {}
    connection.execute(insert(table), new)
    ids = [row["id"] for row in new]
    numbered = select(table.c.id, table.c.seq).where(table.c.id.in_(ids)).order_by(table.c.seq)
    return {row.id: row.seq for row in connection.execute(numbered)}


def _require_same(connection: Connection, row: dict[str, str], known: str, what: str) -> None:
    if known != row["checksum"]:
        raise StoreError(
            f"{connection.engine.url.render_as_string()}: a different {what} with id "
            f"{row['id']!a} is already there; {what}s are never replaced"
        )


class Which(NamedTuple):
    """Which results are asked for; None for any."""

    problem: str | None = None
    """Slug of the problem."""
    author: str | None = None
    """Who submitted them, in upper or lower case."""
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
        asked = self._asdict() | {"author": None}
        found = [RESULTS.c[n] == storable(value) for n, value in asked.items() if value is not None]
        if self.author is not None:
            spelled = RESULTS.c.author, func.lower(RESULTS.c.author)
            found.append(or_(spelled[0] == storable(self.author), spelled[1] == key(self.author)))
        return found


def page(*, after: int, problem: str | None = None) -> Query:
    """The query for the next rows after position ``after``."""
    query = ROWS.where(RESULTS.c.seq > after)
    if problem is not None:
        query = query.where(RESULTS.c.problem == problem)
    return query.order_by(RESULTS.c.seq).limit(PAGE)


def rulings_page(after: int) -> Query:
    """The query for the next rulings after position ``after``."""
    columns = (RULINGS.c.seq, RULINGS.c.id, RULINGS.c.result, RULINGS.c.checksum, RULINGS.c.record)
    return select(*columns).where(RULINGS.c.seq > after).order_by(RULINGS.c.seq).limit(PAGE)


def read_result(row: StoredRow) -> Result | CorruptRecord:
    """The result in ``row``, or what is wrong with it."""
    from harness.records.result import Result

    return _read(row, Result.from_json, lambda _: True)


def readable(
    rows: Iterable[StoredRow],
    read: Callable[[StoredRow], T | CorruptRecord],
    report: Report,
) -> Iterator[T]:
    """What ``read`` makes of ``rows``; those that cannot be read are handed to ``report``."""
    for row in rows:
        outcome = read(row)
        if isinstance(outcome, CorruptRecord):
            report(outcome)
        else:
            yield outcome


def read_ruling(row: StoredRow) -> Ruling | CorruptRecord:
    """The ruling in ``row``, or what is wrong with it."""
    from harness.records.ruling import Ruling

    return _read(row, Ruling.from_json, lambda ruling: storable(ruling.result) == row.result)


def _read(
    row: StoredRow, parse: Callable[[str], T], fits: Callable[[T], bool]
) -> T | CorruptRecord:
    """The record in ``row``, if it is whole, has the row's id and ``fits`` its other columns."""
    identity, record = str(row.id), row.record
    if not isinstance(record, str) or checksum(record) != row.checksum:
        return CorruptRecord(row.seq, identity, "the record does not match its checksum")
    try:
        found = parse(record)
    except (ValueError, RecursionError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        return CorruptRecord(row.seq, identity, lines[0])
    if storable(found.id) != identity or not fits(found):
        return CorruptRecord(row.seq, identity, f"the record is that of {found.id!a}")
    return found
