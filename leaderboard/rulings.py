"""The rulings in a store, which say whether results count.

They are only ever added, and the last one about a result holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from leaderboard.database import Database
from leaderboard.rows import (
    CorruptRecord,
    Report,
    add_new,
    read_ruling,
    readable,
    rulings_page,
)
from leaderboard.schema import RULINGS, ruling_row

if TYPE_CHECKING:
    from harness.records.ruling import Ruling


def add(database: Database, ruling: Ruling) -> None:
    """Append ``ruling``; adding it again changes nothing.

    Raises:
        StoreError: another ruling with the same id is there, or the database failed.
    """
    database.run(partial(add_rows, rows=[ruling_row(ruling)]), write=True)


def add_rows(connection: Connection, rows: Iterable[dict[str, str]]) -> None:
    """Append the rulings that have become ``rows``.

    Raises:
        StoreError: another ruling with the id of one is there.
    """
    add_new(connection, RULINGS, rows, "ruling")


def added(database: Database, results: Collection[str] | None, report: Report) -> Iterator[Ruling]:
    """All rulings in the order of their arrival, or those about ``results``, ids as stored.

    Those that cannot be read are handed to ``report``.
    """
    rows = database.rows_by_pages(rulings_page)
    asked = (row for row in rows if results is None or row.result in results)
    return readable(asked, read_ruling, report)


def one_with_ruling(connection: Connection, results: Collection[str]) -> str | None:
    """One of ``results``, ids as stored, that there is a ruling about; None if there is none."""
    return connection.scalar(select(RULINGS.c.result).where(RULINGS.c.result.in_(results)))


def uncounted(database: Database, report: Report) -> frozenset[str]:
    """Ids, as stored, of the results that do not count.

    Where the last ruling cannot be read, it does not: it may have been an invalidation.
    """
    last = {row.result: row for row in database.rows_by_pages(rulings_page)}
    if not last:
        return frozenset()
    from harness.records.ruling import counts

    found = set()
    for result, row in last.items():
        ruling = read_ruling(row)
        if isinstance(ruling, CorruptRecord):
            report(ruling)
        if isinstance(ruling, CorruptRecord) or not counts([ruling]):
            found.add(result)
    return frozenset(found)
