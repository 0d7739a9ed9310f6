"""The entries that a store keeps beside its records, and their making where they are missing.

They are derived from the records, and nothing is lost with them: where the store is older than they
are, or the table was emptied or damaged, they are made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, insert

from leaderboard.database import Database
from leaderboard.entry import Value, entry
from leaderboard.queries import count_of, entries_of, without_entry
from leaderboard.rows import CorruptRecord, read_result
from leaderboard.schema import ENTRIES, RESULTS, storable

if TYPE_CHECKING:
    import pandas as pd

    from harness.records.result import Result


def keep(connection: Connection, seq: int, result: Result) -> None:
    """Keep the entry of ``result``, which is at ``seq``."""
    connection.execute(insert(ENTRIES).values(_row(connection, seq, result)))


def drop(connection: Connection, seqs: Collection[int]) -> None:
    """Delete those of the results at ``seqs``."""
    connection.execute(delete(ENTRIES).where(ENTRIES.c.seq.in_(seqs)))


def read(
    database: Database, problem: str | None, report: Callable[[CorruptRecord], None]
) -> pd.DataFrame:
    """Those of all results in the order of arrival, or of those for one problem's slug.

    Those that the store does not have yet are made first; results that cannot be read are handed
    to ``report``.

    Raises:
        StoreError: the database itself cannot be read.
    """
    from leaderboard.ranking import entries_frame

    _make_missing(database, report)
    query = entries_of(problem)
    try:
        return entries_frame(map(tuple, database.rows(query)))
    except (ValueError, TypeError):  # a cell is damaged, and no value of its column
        database.run(lambda connection: connection.execute(delete(ENTRIES)), write=True)
        _make_missing(database, report)
        return entries_frame(map(tuple, database.rows(query)))


def _make_missing(database: Database, report: Callable[[CorruptRecord], None]) -> None:
    there, wanted = (database.rows(count_of(table))[0][0] for table in (ENTRIES, RESULTS))
    if there >= wanted:
        return
    last: int | None = -1
    while last is not None:
        last, unreadable = database.run(partial(_make_page, last), write=True)
        for row in unreadable:
            report(row)


def _make_page(after: int, connection: Connection) -> tuple[int | None, list[CorruptRecord]]:
    """Make some of those that are missing: where to go on, and what could not be read."""
    rows = connection.execute(without_entry(after=after)).all()
    outcomes = [(row.seq, read_result(row)) for row in rows]
    unreadable = [each for _, each in outcomes if isinstance(each, CorruptRecord)]
    made = [
        _row(connection, seq, each) for seq, each in outcomes if not isinstance(each, CorruptRecord)
    ]
    if made:
        connection.execute(insert(ENTRIES), made)
    return (rows[-1].seq if rows else None), unreadable


def _row(connection: Connection, seq: int, result: Result) -> dict[str, Value]:
    values = entry(result)
    if connection.dialect.name == "postgresql":  # its text cannot hold NUL
        values = {
            name: storable(value) if isinstance(value, str) else value
            for name, value in values.items()
        }
    return {"seq": seq, **values}
