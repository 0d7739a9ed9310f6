"""The standings that a store keeps beside its records, and their making where they are missing.

They are derived from the records, and nothing is lost with them: where the store is older than they
are, or one is damaged or of another form, they are made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

from sqlalchemy import Connection, delete, exists, insert

from leaderboard.database import Database
from leaderboard.queries import ROWS, count_of, page, standings_page
from leaderboard.rows import CorruptRecord, read_result, readable
from leaderboard.schema import RESULTS, STANDINGS, standing_row
from leaderboard.standing import FORM, standing

if TYPE_CHECKING:
    from harness.records.result import Result


def keep(connection: Connection, seq: int, result: Result) -> None:
    """Keep the standing of ``result``, which is at ``seq``."""
    connection.execute(insert(STANDINGS).values(standing_row(seq, result)))


def drop(connection: Connection, seqs: Collection[int]) -> None:
    """Take away those of the results at ``seqs``."""
    connection.execute(delete(STANDINGS).where(STANDINGS.c.seq.in_(seqs)))


def kept(
    database: Database, problem: str | None, report: Callable[[CorruptRecord], None]
) -> list[bytes]:
    """Those of all results in the order of arrival, or of those for one problem's slug.

    Each is as :meth:`Standing.to_bytes` wrote it. Those that the store does not have yet are made
    first; rows that cannot be read are handed to ``report``.

    Raises:
        StoreError: the database itself cannot be read.
    """
    rows = _rows(database, problem)
    if len(rows) < database.rows(count_of(problem))[0][0]:
        _make_missing(database, report)
        rows = _rows(database, problem)
    written: list[bytes] = []
    for seq, each, checksum in rows:
        if isinstance(each, bytes) and crc32(each) == checksum:
            written.append(each)
        else:
            written += _from_record(database, seq, report)
    return written


def _rows(database: Database, problem: str | None) -> list[Any]:
    return list(database.rows_by_pages(lambda after: standings_page(after=after, problem=problem)))


def _make_missing(database: Database, report: Callable[[CorruptRecord], None]) -> None:
    last: int | None = -1
    while last is not None:
        last, unreadable = database.run(partial(_make_page, last), write=True)
        for row in unreadable:
            report(row)


def _make_page(after: int, connection: Connection) -> tuple[int | None, list[CorruptRecord]]:
    """Make some of those that are missing: where to go on, and what could not be read."""
    known = exists().where(STANDINGS.c.seq == RESULTS.c.seq, STANDINGS.c.form == FORM)
    missing = page(after=after, problem=None).where(~known)
    rows = connection.execute(missing).all()
    made: dict[int, dict[str, str | int | bytes]] = {}
    unreadable = []
    for row in rows:
        outcome = read_result(row)
        if isinstance(outcome, CorruptRecord):
            unreadable.append(outcome)
        else:
            made[row.seq] = standing_row(row.seq, outcome)
    if made:
        drop(connection, list(made))  # those of another form
        connection.execute(insert(STANDINGS), list(made.values()))
    return (rows[-1].seq if rows else None), unreadable


def _from_record(
    database: Database, seq: int, report: Callable[[CorruptRecord], None]
) -> Iterator[bytes]:
    """One made again, if the record can be read."""
    for result in readable(database.rows(ROWS.where(RESULTS.c.seq == seq)), read_result, report):
        yield standing(result).to_bytes()
