"""Results that outlive the process: append-only, several writers, nothing acknowledged is lost.

A result is in the store once :meth:`Store.add` has returned, and stays there whatever happens to
the process or the machine afterwards: one transaction per result, flushed to the disk before it
is acknowledged (SQLite: write-ahead log, ``synchronous=FULL``). What this does not cover: disks
that lie about flushing, and network file systems, on which SQLite's locks are not to be trusted
(use PostgreSQL there). A record that was altered is found by its checksum; this finds accidents,
not an attacker who can write to the store.

Whether a result counts is said by rulings, which lie beside it: who reads results or entries gets
those that count, and nobody else has to know. Only :meth:`Store.delete` takes a result away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sqlalchemy import Connection, delete, insert, select

from harness.text.plain import visible
from leaderboard import entries, rulings, sources
from leaderboard.database import Database, StoreError
from leaderboard.location import default_store_url, store_url
from leaderboard.queries import PAGE, ROWS, Which, page
from leaderboard.rows import CorruptRecord, read_result, readable
from leaderboard.schema import RESULTS, SchemaError, is_ready, prepare, row_of, storable

if TYPE_CHECKING:
    import pandas as pd

    from harness.records.result import Result
    from harness.records.ruling import Ruling

__all__ = ["CorruptRecord", "Store", "StoreError", "Which", "default_store_url", "store_url"]

_log = logging.getLogger(__name__)


class Store:
    """All results, behind a database URL.

    Safe to use from several threads and processes, and after a fork. As a context manager it
    closes itself.

    Raises:
        StoreError: the URL is wrong, its driver is not installed, the database cannot be opened,
            is damaged, holds something else, or has a schema that this version cannot use.
    """

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        self._run = self._database.run
        self.url = self._database.url
        try:
            # Most openings find the tables made, and then need no turn as a writer.
            if not self._run(is_ready, write=False):
                self._run(prepare, write=True)
        except SchemaError as error:
            self.close()
            raise StoreError(f"{self.url}: {error}") from error
        except StoreError:
            self.close()
            raise

    @classmethod
    def open(cls, place: str | None = None) -> Self:
        """Open the store at ``place``, a URL or a path; without one, the default store."""
        return cls(default_store_url() if place is None else store_url(place))

    def close(self) -> None:
        """Release all connections. Closing twice is allowed."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def add(self, result: Result, source: bytes | None = None) -> None:
        """Append ``result``; adding it again changes nothing. With it goes the submitted file.

        Raises:
            ValueError: ``source`` is not what the result is of, or larger than
                :data:`leaderboard.sources.MAX_BYTES`.
            StoreError: another result with the same id is there, or the database failed.
        """
        if source is not None:
            sources.require_source_of(result, source)
        row = row_of(result)

        def append(connection: Connection) -> None:
            there = select(RESULTS.c.checksum).where(RESULTS.c.id == row["id"])
            known = connection.scalar(there)
            if known is None:
                seq = connection.scalar(insert(RESULTS).values(row).returning(RESULTS.c.seq))
                entries.keep(connection, seq, result)
                if source is not None:
                    sources.keep(connection, source)
            elif known != row["checksum"]:
                raise StoreError(
                    f"{self.url}: a different result with id {row['id']!a} is already there; "
                    "results are never replaced"
                )

        self._run(append, write=True)

    def source(self, digest: str) -> bytes | None:
        """The submitted file with this SHA-256 (hex); None if it was not kept, or is damaged.

        Raises:
            StoreError: the database itself cannot be read.
        """
        return self._run(lambda connection: sources.kept(connection, digest), write=False)

    def results(
        self,
        problem: str | None = None,
        *,
        on_corrupt: Callable[[CorruptRecord], None] | None = None,
    ) -> Iterator[Result]:
        """All results that count in the order of their arrival, or those for one problem's slug.

        Rows that cannot be read are handed to ``on_corrupt`` (default: logged as warnings) and
        do not hide the others.

        Raises:
            StoreError: the database itself cannot be read.
        """
        uncounted = self._uncounted()
        for result in self.recorded(problem, on_corrupt=on_corrupt):
            if storable(result.id) not in uncounted:
                yield result

    def recorded(
        self,
        problem: str | None = None,
        *,
        on_corrupt: Callable[[CorruptRecord], None] | None = None,
    ) -> Iterator[Result]:
        """As :meth:`results`, with those that do not count."""
        rows = self._database.rows_by_pages(lambda after: page(after=after, problem=problem))
        return readable(rows, read_result, on_corrupt or self._warn)

    def named(self, ids: Sequence[str]) -> Iterator[Result]:
        """The results with these ids, in the order of their arrival; others are passed over.

        Those that do not count, too. Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        wanted = sorted({storable(each) for each in ids})
        for start in range(0, len(wanted), PAGE):
            chosen = wanted[start : start + PAGE]
            query = ROWS.where(RESULTS.c.id.in_(chosen)).order_by(RESULTS.c.seq)
            yield from readable(self._database.rows(query), read_result, self._warn)

    def newest(self, which: Which, limit: int) -> list[Result]:
        """The newest results among ``which``, the newest first, at most ``limit``.

        Those that do not count, too. Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        query = ROWS.where(*which.conditions())
        query = query.order_by(RESULTS.c.created.desc(), RESULTS.c.seq.desc()).limit(limit)
        return list(readable(self._database.rows(query), read_result, self._warn))

    def ids_like(self, prefix: str, limit: int = 10) -> list[str]:
        """Ids that begin with ``prefix``, sorted, at most ``limit``; the whole id is alone.

        Raises:
            StoreError: the database itself cannot be read.
        """
        begins = storable(prefix)
        query = select(RESULTS.c.id).where(RESULTS.c.id.startswith(begins, autoescape=True))
        rows = self._database.rows(query.order_by(RESULTS.c.id))
        found = [row.id for row in rows if row.id.startswith(begins)]  # LIKE may ignore case
        return [begins] if begins in found else found[:limit]

    def delete(self, ids: Collection[str]) -> None:
        """Take the results with these ids away, for good, and files that no other result is of.

        Raises:
            StoreError: there is a ruling about one of them, which must stay; nothing was deleted.
        """
        wanted = [storable(each) for each in ids]

        def remove(connection: Connection) -> None:
            if (held := rulings.one_with_ruling(connection, wanted)) is not None:
                raise StoreError(
                    f"{self.url}: {visible(held)} cannot be deleted: there is a ruling about it"
                )
            which = RESULTS.c.id.in_(wanted)
            doomed = select(RESULTS.c.seq, RESULTS.c.solution_hash).where(which)
            rows = connection.execute(doomed).all()
            entries.drop(connection, [row.seq for row in rows])
            connection.execute(delete(RESULTS).where(which))
            sources.drop_unused(connection, {row.solution_hash for row in rows})

        self._run(remove, write=True)

    def add_ruling(self, ruling: Ruling) -> None:
        """Append ``ruling``, which holds from now on; adding it again changes nothing.

        The result that it is about need not be there (yet).

        Raises:
            StoreError: another ruling with the same id is there, or the database failed.
        """
        rulings.add(self._database, ruling)

    def rulings(self, ids: Collection[str] | None = None) -> Iterator[Ruling]:
        """All rulings in the order of their arrival, or those about the results with these ids.

        Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        wanted = None if ids is None else {storable(each) for each in ids}
        return rulings.added(self._database, wanted, self._warn_of_ruling)

    def _uncounted(self) -> frozenset[str]:
        return rulings.uncounted(self._database, self._warn_of_ruling)

    def entries(self, problem: str | None = None) -> pd.DataFrame:
        """What boards are made of: the entries of all results that count, in order of arrival.

        Much faster than reading the records: see :func:`leaderboard.ranking.entries_frame` for the
        columns. Entries that the store does not have yet are made first. Rows that cannot be read
        are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        found = entries.read(self._database, problem, self._warn)
        uncounted = self._uncounted()
        if not uncounted:
            return found
        return found[~found["result"].map(storable).isin(uncounted)]

    def _warn_of_ruling(self, row: CorruptRecord) -> None:
        self._warn(row, "ruling")

    def _warn(self, row: CorruptRecord, kind: str = "result") -> None:
        told = visible(f"{kind} {row.id!a} (row {row.seq}) left out: {row.reason}")
        _log.warning("%s: %s", self.url, told)
