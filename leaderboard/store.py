"""Results that outlive the process: append-only, several writers, nothing acknowledged is lost.

A result is in the store once :meth:`Store.add` has returned, and stays there whatever happens to
the process or the machine afterwards: one transaction per result, flushed to the disk before it
is acknowledged (SQLite: write-ahead log, ``synchronous=FULL``). What this does not cover: disks
that lie about flushing, and network file systems, on which SQLite's locks are not to be trusted
(use PostgreSQL there). A record that was altered is found by its checksum; this finds accidents,
not an attacker who can write to the store.

Whether a result counts is said by rulings, which lie beside it: who reads results or standings
gets those that count, and nobody else has to know. Only :meth:`Store.delete` takes a result away.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from types import TracebackType
from typing import Any, Self

from sqlalchemy import (
    Connection,
    Row,
    Select,
    delete,
    exists,
    func,
    insert,
    select,
)

from harness.result import Result
from harness.ruling import Ruling, counts
from harness.visible import visible
from leaderboard import sources
from leaderboard.database import Database, StoreError
from leaderboard.location import default_store_url, store_url
from leaderboard.queries import PAGE, ROWS, Which, page, rulings_page, standings_page
from leaderboard.rows import CorruptRecord, read_result, read_ruling, read_standings
from leaderboard.schema import (
    RESULTS,
    RULINGS,
    STANDINGS,
    SchemaError,
    is_ready,
    prepare,
    row_of,
    ruling_row,
    standing_row,
    storable,
)
from leaderboard.standing import FORM, Standing, standing

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
                :data:`leaderboard.sources.MOST_BYTES`.
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
                connection.execute(insert(STANDINGS).values(standing_row(seq, result)))
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
        rows = self._rows(lambda after: page(after=after, problem=problem))
        yield from self._read_all(rows, on_corrupt or self._warn)

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
            yield from self._read_all(self._run(partial(_fetch, query), write=False), self._warn)

    def newest(self, which: Which, limit: int) -> list[Result]:
        """The newest results among ``which``, the newest first, at most ``limit``.

        Those that do not count, too. Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        query = ROWS.where(*which.conditions())
        query = query.order_by(RESULTS.c.created.desc(), RESULTS.c.seq.desc()).limit(limit)
        return list(self._read_all(self._run(partial(_fetch, query), write=False), self._warn))

    def ids_like(self, prefix: str, limit: int = 10) -> list[str]:
        """Ids that begin with ``prefix``, sorted, at most ``limit``; the whole id is alone.

        Raises:
            StoreError: the database itself cannot be read.
        """
        begins = storable(prefix)
        query = select(RESULTS.c.id).where(RESULTS.c.id.startswith(begins, autoescape=True))
        rows = self._run(partial(_fetch, query.order_by(RESULTS.c.id)), write=False)
        found = [row.id for row in rows if row.id.startswith(begins)]  # LIKE may ignore case
        return [begins] if begins in found else found[:limit]

    def delete(self, ids: Collection[str]) -> None:
        """Take the results with these ids away, for good, and files that no other result is of.

        Raises:
            StoreError: there is a ruling about one of them, which must stay; nothing was deleted.
        """
        wanted = [storable(each) for each in ids]

        def remove(connection: Connection) -> None:
            ruled = select(RULINGS.c.result).where(RULINGS.c.result.in_(wanted))
            if (held := connection.scalar(ruled)) is not None:
                raise StoreError(
                    f"{self.url}: {visible(held)} cannot be deleted: there is a ruling about it"
                )
            which = RESULTS.c.id.in_(wanted)
            doomed = select(RESULTS.c.seq, RESULTS.c.solution_hash).where(which)
            rows = connection.execute(doomed).all()
            seqs = [row.seq for row in rows]
            connection.execute(delete(STANDINGS).where(STANDINGS.c.seq.in_(seqs)))
            connection.execute(delete(RESULTS).where(which))
            sources.drop_unused(connection, {row.solution_hash for row in rows})

        self._run(remove, write=True)

    def add_ruling(self, ruling: Ruling) -> None:
        """Append ``ruling``, which holds from now on; adding it again changes nothing.

        The result that it is about need not be there (yet).

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
                    f"{self.url}: a different ruling with id {row['id']!a} is already there"
                )

        self._run(append, write=True)

    def rulings(self, ids: Collection[str] | None = None) -> Iterator[Ruling]:
        """All rulings in the order of their arrival, or those about the results with these ids.

        Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        wanted = None if ids is None else {storable(each) for each in ids}
        for row in self._rows(rulings_page):
            if wanted is None or row.result in wanted:
                ruling = read_ruling(row)
                if isinstance(ruling, Ruling):
                    yield ruling
                else:
                    self._warn(ruling, "ruling")

    def _uncounted(self) -> frozenset[str]:
        """Ids, as stored, of the results that do not count.

        Where the last ruling cannot be read, it does not: what it said may have been just that.
        """
        last = {row.result: row for row in self._rows(rulings_page)}
        held = set()
        for result, row in last.items():
            ruling = read_ruling(row)
            if not isinstance(ruling, Ruling):
                self._warn(ruling, "ruling")
                held.add(result)
            elif not counts([ruling]):
                held.add(result)
        return frozenset(held)

    def standings(self, problem: str | None = None) -> Iterator[Standing]:
        """What boards are made of, in the order of arrival: of all results that count.

        Sooner than to read their records.

        Standings that the store does not have yet, for it is older than they are, are made first.
        Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        self._make_standings()
        uncounted = self._uncounted()
        for rows in self._pages(lambda after: standings_page(after=after, problem=problem)):
            for row, found in zip(rows, read_standings(rows), strict=True):
                for each in [found] if found else self._standing_again(row.seq):
                    if not uncounted or storable(each.result) not in uncounted:
                        yield each

    def _make_standings(self) -> None:
        if self._run(_all_have_standings, write=False):
            return
        last: int | None = -1
        while last is not None:
            last, unreadable = self._run(partial(_make_page, last), write=True)
            for row in unreadable:
                self._warn(row)

    def _standing_again(self, seq: int) -> Iterator[Standing]:
        """From the record, where the standing is damaged."""
        rows = self._run(partial(_fetch, ROWS.where(RESULTS.c.seq == seq)), write=False)
        yield from map(standing, self._read_all(rows, self._warn))

    def _rows(self, query_after: Callable[[int], Select[Any]]) -> Iterator[Row[Any]]:
        return chain.from_iterable(self._pages(query_after))

    def _pages(self, query_after: Callable[[int], Select[Any]]) -> Iterator[Sequence[Row[Any]]]:
        """All rows of a query that gives those after a position, page by page."""
        last = -1
        while rows := self._run(partial(_fetch, query_after(last)), write=False):
            yield rows
            last = rows[-1].seq

    def _read_all(
        self, rows: Iterable[Row[Any]], report: Callable[[CorruptRecord], None]
    ) -> Iterator[Result]:
        for row in rows:
            outcome = read_result(row)
            if isinstance(outcome, Result):
                yield outcome
            else:
                report(outcome)

    def _warn(self, row: CorruptRecord, kind: str = "result") -> None:
        told = visible(f"{kind} {row.id!a} (row {row.seq}) left out: {row.reason}")
        _log.warning("%s: %s", self.url, told)


def _all_have_standings(connection: Connection) -> bool:
    there = select(func.count()).select_from(STANDINGS).where(STANDINGS.c.form == FORM)
    wanted = select(func.count()).select_from(RESULTS)
    return connection.scalar(there) == connection.scalar(wanted)


def _make_page(after: int, connection: Connection) -> tuple[int | None, list[CorruptRecord]]:
    """Make some of the standings that are missing: where to go on, and what could not be read."""
    known = exists().where(STANDINGS.c.seq == RESULTS.c.seq, STANDINGS.c.form == FORM)
    missing = page(after=after, problem=None).where(~known)
    rows = connection.execute(missing).all()
    outcomes = [(row.seq, read_result(row)) for row in rows]
    made = [standing_row(seq, each) for seq, each in outcomes if isinstance(each, Result)]
    if made:
        older = STANDINGS.c.seq.in_([row["seq"] for row in made])
        connection.execute(delete(STANDINGS).where(older))
        connection.execute(insert(STANDINGS), made)
    unreadable = [each for _, each in outcomes if isinstance(each, CorruptRecord)]
    return (rows[-1].seq if rows else None), unreadable


def _fetch(query: Select[Any], connection: Connection) -> Sequence[Row[Any]]:
    return connection.execute(query).all()
