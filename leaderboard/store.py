"""Results that outlive the process: append-only, several writers, nothing acknowledged is lost.

A result is in the store once :meth:`Store.add` has returned, and stays there whatever happens to
the process or the machine afterwards: one transaction per result (or per import), flushed to the
disk before it is acknowledged (SQLite: write-ahead log, ``synchronous=FULL``). What this does not
cover: disks that lie about flushing, and network file systems, on which SQLite's locks are not to
be trusted (use PostgreSQL there). A record that was altered is found by its checksum; this finds
accidents, not an attacker who can write to the store.

Rulings beside the results say whether they count: readers of results or entries get those that do.
Only :meth:`Store.delete` takes a result away.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Self

from sqlalchemy import Connection, delete, select

from harness.text.plain import visible
from leaderboard import entries, rulings, sources
from leaderboard.database import Database
from leaderboard.entry import entry
from leaderboard.failures import StoreError
from leaderboard.location import default_store_url, store_url
from leaderboard.rows import (
    PAGE,
    ROWS,
    CorruptRecord,
    Report,
    Which,
    add_new,
    page,
    read_result,
    readable,
)
from leaderboard.schema import (
    RESULTS,
    VERSION,
    SchemaError,
    prepare,
    row_of,
    storable,
    take_turn,
    version_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from harness.records.result import Result
    from harness.records.ruling import Ruling
    from leaderboard.bulk import Bulk

__all__ = ["CorruptRecord", "Store", "StoreError", "Which", "default_store_url", "store_url"]

_log = logging.getLogger(__name__)


class Store:
    """All results, behind a database URL.

    Safe to use from several threads and processes, and after a fork. As a context manager it
    closes itself. All methods raise :class:`StoreError` where the database fails. Rows that cannot
    be read are logged as warnings and left out: they do not hide the others.

    Raises:
        StoreError: the URL is wrong, its driver is not installed, the database cannot be opened,
            is damaged, holds something else, or has a schema that this version cannot use.
    """

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        self._run = self._database.run
        self.url = self._database.url
        self.read_only = self._database.read_only
        """Why results can only be read, if that is so."""
        try:
            # Most openings find the tables made, and then need no turn as a writer.
            if self._run(version_of, write=False) != VERSION:
                self._run(prepare, write=True)
        except (SchemaError, StoreError) as error:
            self.close()
            if isinstance(error, SchemaError):
                raise StoreError(f"{self.url}: {error}") from error
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, result: Result, source: bytes | None = None) -> None:
        """Append ``result``; adding it again changes nothing. With it goes the submitted file.

        Raises:
            ValueError: ``source`` is not what the result is of, or larger than
                :data:`leaderboard.sources.MAX_BYTES`.
            StoreError: another result with the same id is there.
        """
        if source is not None:
            sources.require_source_of(result, source)
        row = row_of(result)

        def append(connection: Connection) -> None:
            if seqs := add_new(connection, RESULTS, [row], "result"):
                entries.add(connection, [(seqs[row["id"]], entry(result))])
                if source is not None:
                    sources.add(connection, source)

        self._run(append, write=True)

    def add_all(self, bulk: Bulk) -> None:
        """Append all results and rulings of ``bulk``, or none; those that are there stay.

        Raises:
            StoreError: another result or ruling with the id of one is there; nothing was added.
        """

        def append(connection: Connection) -> None:
            take_turn(connection)
            try:
                for batch in bulk:
                    seqs = add_new(connection, RESULTS, batch.results, "result")
                    made = {storable(str(each["result"])): each for each in batch.entries}
                    entries.add(connection, [(seq, made[each]) for each, seq in seqs.items()])
                    rulings.add_rows(connection, batch.rulings)
            except StoreError as error:
                raise StoreError(f"{error}; nothing was added") from error

        self._run(append, write=True)

    def source(self, digest: str) -> bytes | None:
        """The submitted file with this SHA-256 (hex); None if it is not there, or is damaged."""
        return self._run(partial(sources.find, digest=digest), write=False)

    def results(
        self, problem: str | None = None, *, on_corrupt: Report | None = None
    ) -> Iterator[Result]:
        """All results that count in the order of their arrival, or those for one problem's slug.

        Rows that cannot be read are handed to ``on_corrupt`` instead of being logged.
        """
        uncounted = self._uncounted()
        for result in self.recorded(problem, on_corrupt=on_corrupt):
            if storable(result.id) not in uncounted:
                yield result

    def recorded(
        self, problem: str | None = None, *, on_corrupt: Report | None = None
    ) -> Iterator[Result]:
        """As :meth:`results`, with those that do not count."""
        rows = self._database.rows_by_pages(lambda after: page(after=after, problem=problem))
        return readable(rows, read_result, on_corrupt or self._warn)

    def named(self, ids: Sequence[str]) -> Iterator[Result]:
        """The results with these ids, counting or not, in the order of their arrival."""
        wanted = sorted({storable(each) for each in ids})
        for start in range(0, len(wanted), PAGE):
            chosen = wanted[start : start + PAGE]
            query = ROWS.where(RESULTS.c.id.in_(chosen)).order_by(RESULTS.c.seq)
            yield from readable(self._database.rows(query), read_result, self._warn)

    def newest(self, which: Which, limit: int) -> list[Result]:
        """The newest results among ``which``, counting or not, the newest first."""
        query = ROWS.where(*which.conditions())
        query = query.order_by(RESULTS.c.created.desc(), RESULTS.c.seq.desc()).limit(limit)
        return list(readable(self._database.rows(query), read_result, self._warn))

    def ids_like(self, prefix: str, limit: int = 10) -> list[str]:
        """Ids that begin with ``prefix``, sorted, at most ``limit``; only it where it is an id."""
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
            if (ruled := rulings.one_with_ruling(connection, wanted)) is not None:
                raise StoreError(
                    f"{self.url}: {visible(ruled)} cannot be deleted: there is a ruling about it"
                )
            which = RESULTS.c.id.in_(wanted)
            deleted = select(RESULTS.c.seq, RESULTS.c.solution_hash).where(which)
            rows = connection.execute(deleted).all()
            entries.delete_at(connection, [row.seq for row in rows])
            connection.execute(delete(RESULTS).where(which))
            sources.delete_unused(connection, {row.solution_hash for row in rows})

        self._run(remove, write=True)

    def add_ruling(self, ruling: Ruling) -> None:
        """Append ``ruling``, which holds from now on; adding it again changes nothing.

        The result that it is about need not be there (yet).

        Raises:
            StoreError: another ruling with the same id is there.
        """
        rulings.add(self._database, ruling)

    def rulings(self, ids: Collection[str] | None = None) -> Iterator[Ruling]:
        """All rulings in the order of their arrival, or those about the results with these ids."""
        wanted = None if ids is None else {storable(each) for each in ids}
        return rulings.added(self._database, wanted, self._warn_of_ruling)

    def _uncounted(self) -> frozenset[str]:
        return rulings.uncounted(self._database, self._warn_of_ruling)

    def entries(self, problem: str | None = None) -> pd.DataFrame:
        """What boards are made of: the entries of all results that count, in order of arrival.

        Much faster than reading the records: see :func:`leaderboard.ranking.entries_frame` for the
        columns. Entries that the store does not have yet are made first.
        """
        found = entries.read(self._database, problem, self._warn)
        uncounted = self._uncounted()
        return found[~found["result"].map(storable).isin(uncounted)] if uncounted else found

    def _warn_of_ruling(self, row: CorruptRecord) -> None:
        self._warn(row, "ruling")

    def _warn(self, row: CorruptRecord, kind: str = "result") -> None:
        warning = visible(f"{kind} {row.id!a} (row {row.seq}) left out: {row.reason}")
        _log.warning("%s: %s", self.url, warning)
