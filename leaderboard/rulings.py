"""The rulings in a store, which say whether results count.

They are only ever added, and the last one about a result holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from leaderboard.database import Database, StoreError
from leaderboard.queries import rulings_page
from leaderboard.rows import CorruptRecord, read_ruling, readable
from leaderboard.schema import RULINGS, ruling_row

if TYPE_CHECKING:
    from harness.records.ruling import Ruling


def add(database: Database, ruling: Ruling) -> None:
    """Append ``ruling``; adding it again changes nothing.

    Raises:
        StoreError: another ruling with the same id is there, or the database failed.
    """
    row = ruling_row(ruling)

    def append(connection: Connection) -> None:
        there = select(RULINGS.c.checksum).where(RULINGS.c.id == row["id"])
        known = connection.scalar(there)
        if known is None:
            connection.execute(insert(RULINGS).values(row))
        elif known != row["checksum"]:
            raise StoreError(
                f"{database.url}: a different ruling with id {row['id']!a} is already there"
            )

    database.run(append, write=True)


def added(
    database: Database, results: Collection[str] | None, report: Callable[[CorruptRecord], None]
) -> Iterator[Ruling]:
    """All rulings in the order of their arrival, or those about ``results``, ids as stored.

    Those that cannot be read are handed to ``report``.
    """
    rows = database.rows_by_pages(rulings_page)
    asked = (row for row in rows if results is None or row.result in results)
    return readable(asked, read_ruling, report)


def one_with_ruling(connection: Connection, results: Collection[str]) -> str | None:
    """One of ``results``, ids as stored, that there is a ruling about; None if there is none."""
    return connection.scalar(select(RULINGS.c.result).where(RULINGS.c.result.in_(results)))


def uncounted(database: Database, report: Callable[[CorruptRecord], None]) -> frozenset[str]:
    """Ids, as stored, of the results that do not count.

    Where the last ruling cannot be read, it does not: what it said may have been just that.
    """
    last = {row.result: row for row in database.rows_by_pages(rulings_page)}
    if not last:
        return frozenset()
    from harness.records.ruling import counts

    held = set()
    for result, row in last.items():
        ruling = read_ruling(row)
        if isinstance(ruling, CorruptRecord):
            report(ruling)
            held.add(result)
        elif not counts([ruling]):
            held.add(result)
    return frozenset(held)
