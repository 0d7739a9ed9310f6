"""The entries that a store holds beside its records, and their making where they are missing.

They are derived from the records, and nothing is lost with them: where the store is older than they
are, or the table was emptied or damaged, they are made again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, exists, func, insert, select

from leaderboard.database import Database
from leaderboard.entry import Value, entry
from leaderboard.rows import CorruptRecord, Report, page, read_result
from leaderboard.schema import ENTRIES, RESULTS, storable

if TYPE_CHECKING:
    import pandas as pd


def add(connection: Connection, rows: Sequence[tuple[int, dict[str, Value]]]) -> None:
    """Store entries, each of the result that is at this ``seq``."""
    if rows:
        connection.execute(insert(ENTRIES), [_row(connection, *row) for row in rows])


def delete_at(connection: Connection, seqs: Collection[int]) -> None:
    """Delete the entries of the results at ``seqs``."""
    connection.execute(delete(ENTRIES).where(ENTRIES.c.seq.in_(seqs)))


def read(database: Database, problem: str | None, report: Report) -> pd.DataFrame:
    """The entries of all results in the order of arrival, or of those for one problem's slug.

    Those that the store does not have yet are made first; results that cannot be read are handed
    to ``report``.

    Raises:
        StoreError: the database itself cannot be read.
    """
    from leaderboard.ranking import entries_frame

    _make_missing(database, report)
    query = select(*list(ENTRIES.columns)[1:]).order_by(ENTRIES.c.seq)
    if problem is not None:
        query = query.where(ENTRIES.c.problem == problem)
    try:
        return entries_frame(map(tuple, database.rows(query)))
    except (ValueError, TypeError):  # a cell is damaged, and no value of its column
        database.run(lambda connection: connection.execute(delete(ENTRIES)), write=True)
        _make_missing(database, report)
        return entries_frame(map(tuple, database.rows(query)))


def _make_missing(database: Database, report: Report) -> None:
    if not database.run(_is_incomplete, write=False):
        return
    last: int | None = -1
    while last is not None:
        last, unreadable = database.run(partial(_make_page, last), write=True)
        for row in unreadable:
            report(row)


def _is_incomplete(connection: Connection) -> bool:
    counts = (select(func.count()).select_from(table) for table in (ENTRIES, RESULTS))
    there, wanted = (connection.scalar(count) or 0 for count in counts)
    return there < wanted


def _make_page(after: int, connection: Connection) -> tuple[int | None, list[CorruptRecord]]:
    """Make some of those that are missing: where to go on, and what could not be read."""
    missing = page(after=after).where(~exists().where(ENTRIES.c.seq == RESULTS.c.seq))
    rows = connection.execute(missing).all()
    made: list[tuple[int, dict[str, Value]]] = []
    unreadable: list[CorruptRecord] = []
    for row in rows:
        outcome = read_result(row)
        if isinstance(outcome, CorruptRecord):
            unreadable.append(outcome)
        else:
            made.append((row.seq, entry(outcome)))
    add(connection, made)
    return (rows[-1].seq if rows else None), unreadable


def _row(connection: Connection, seq: int, values: dict[str, Value]) -> dict[str, Value]:
    if connection.dialect.name == "postgresql":  # its text cannot hold NUL
        for name, value in values.items():
            values[name] = storable(value) if isinstance(value, str) else value
    return {"seq": seq, **values}
