"""Results that outlive the process: append-only, several writers, nothing acknowledged is lost.

A result is in the store once :meth:`Store.add` has returned, and stays there whatever happens to
the process or the machine afterwards: one transaction per result, flushed to the disk before it
is acknowledged (SQLite: write-ahead log, ``synchronous=FULL``). What this does not cover: disks
that lie about flushing, and network file systems, on which SQLite's locks are not to be trusted
(use PostgreSQL there). A record that was altered is found by its checksum; this finds accidents,
not an attacker who can write to the store.
"""

import logging
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    Select,
    create_engine,
    delete,
    event,
    exists,
    func,
    insert,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from harness.result import Result
from leaderboard.location import default_store_url, store_url
from leaderboard.schema import (
    RESULTS,
    STANDINGS,
    SchemaError,
    checksum,
    is_ready,
    prepare,
    row_of,
    standing_row,
)
from leaderboard.standing import FORM, Standing, standing
from leaderboard.text import visible

__all__ = ["CorruptRecord", "Store", "StoreError", "default_store_url", "store_url"]

BUSY_TIMEOUT = 30.0
"""Seconds that one statement waits for another writer."""

RETRY_FOR = 120.0
"""Seconds after which a writer that never got its turn gives up."""

PAGE = 256
"""Rows read at a time: a reader never holds a transaction open while its caller works."""

STANDINGS_PAGE = 8192
"""The same of standings, which are small."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class StoreError(Exception):
    """The store cannot be used, or refused a result; the message says why and what to do."""


class CorruptRecord(NamedTuple):
    """A row that could not be read: its position, its id as stored, and what is wrong."""

    seq: int
    id: str
    reason: str


class Store:
    """All results, behind a database URL.

    Safe to use from several threads and processes, and after a fork. As a context manager it
    closes itself.

    Raises:
        StoreError: the URL is wrong, its driver is not installed, the database cannot be opened,
            is damaged, holds something else, or has a schema that this version cannot use.
    """

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._pid = os.getpid()
        self.url = self._engine.url.render_as_string(hide_password=True)
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
        self._engine.dispose(close=self._pid == os.getpid())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def add(self, result: Result) -> None:
        """Append ``result``; adding it again changes nothing.

        Raises:
            StoreError: another result with the same id is there, or the database failed.
        """
        row = row_of(result)

        def append(connection: Connection) -> None:
            there = select(RESULTS.c.checksum).where(RESULTS.c.id == row["id"])
            known = connection.scalar(there)
            if known is None:
                seq = connection.scalar(insert(RESULTS).values(row).returning(RESULTS.c.seq))
                connection.execute(insert(STANDINGS).values(standing_row(seq, result)))
            elif known != row["checksum"]:
                raise StoreError(
                    f"{self.url}: a different result with id {row['id']!a} is already there; "
                    "results are never replaced"
                )

        self._run(append, write=True)

    def results(
        self,
        problem: str | None = None,
        *,
        on_corrupt: Callable[[CorruptRecord], None] | None = None,
    ) -> Iterator[Result]:
        """All results in the order of their arrival, or those for one problem's slug.

        Rows that cannot be read are handed to ``on_corrupt`` (default: logged as warnings) and
        do not hide the others.

        Raises:
            StoreError: the database itself cannot be read.
        """
        report = on_corrupt or self._warn
        last = -1
        while True:
            rows = self._run(partial(_fetch, page(after=last, problem=problem)), write=False)
            if not rows:
                return
            for row in rows:
                outcome = _read(row)
                if isinstance(outcome, Result):
                    yield outcome
                else:
                    report(outcome)
            last = rows[-1].seq

    def named(self, ids: Sequence[str]) -> Iterator[Result]:
        """The results with these ids, in the order of their arrival; others are passed over.

        Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        wanted = sorted({each.replace("\0", "\ufffd") for each in ids})
        for start in range(0, len(wanted), PAGE):
            chosen = wanted[start : start + PAGE]
            query = _ROWS.where(RESULTS.c.id.in_(chosen)).order_by(RESULTS.c.seq)
            for row in self._run(partial(_fetch, query), write=False):
                outcome = _read(row)
                if isinstance(outcome, Result):
                    yield outcome
                else:
                    self._warn(outcome)

    def standings(self, problem: str | None = None) -> Iterator[Standing]:
        """What boards are made of, in the order of arrival; sooner than to read all records.

        Standings that the store does not have yet, for it is older than they are, are made first.
        Rows that cannot be read are logged as warnings and left out.

        Raises:
            StoreError: the database itself cannot be read.
        """
        self._make_standings()
        last = -1
        while True:
            query = standings_page(after=last, problem=problem)
            rows = self._run(partial(_fetch, query), write=False)
            if not rows:
                return
            for row in rows:
                found = _read_standing(row)
                yield from [found] if found else self._standing_again(row.seq)
            last = rows[-1].seq

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
        for row in self._run(partial(_fetch, _ROWS.where(RESULTS.c.seq == seq)), write=False):
            outcome = _read(row)
            if isinstance(outcome, Result):
                yield standing(outcome)
            else:
                self._warn(outcome)

    def _warn(self, row: CorruptRecord) -> None:
        told = visible(f"result {row.id!a} (row {row.seq}) left out: {row.reason}")
        _log.warning("%s: %s", self.url, told)

    def _run(self, work: Callable[[Connection], T], *, write: bool) -> T:
        """Do ``work`` in one transaction; again if another process was in the way.

        ``work`` must be safe to repeat: a lost connection leaves open whether it was committed.
        """
        if self._pid != os.getpid():
            # A forked child must not talk over its parent's connections.
            self._engine.dispose(close=False)
            self._pid = os.getpid()
        give_up = time.monotonic() + RETRY_FOR
        pause = 0.005
        collisions = 0
        while True:
            try:
                with (
                    self._engine.connect().execution_options(store_write=write) as connection,
                    connection.begin(),
                ):
                    return work(connection)
            except IntegrityError as error:
                # On PostgreSQL another writer has just added the same id: look again.
                collisions += 1
                if collisions > 3:
                    raise StoreError(f"{self.url}: {_explain(error)}") from error
            except DBAPIError as error:
                if not _worth_retrying(error):
                    raise StoreError(f"{self.url}: {_explain(error)}") from error
                if time.monotonic() > give_up:
                    raise StoreError(
                        f"{self.url}: no turn within {RETRY_FOR:.0f} s: {_explain(error)}"
                    ) from error
            # Writers that collided spread out.
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 (no secret)
            pause = min(pause * 2, 1.0)


_ROWS = select(RESULTS.c.seq, RESULTS.c.id, RESULTS.c.checksum, RESULTS.c.record)


def page(*, after: int, problem: str | None) -> Select[Any]:
    """The query for the next rows after position ``after``."""
    query = _ROWS.where(RESULTS.c.seq > after)
    if problem is not None:
        query = query.where(RESULTS.c.problem == problem)
    return query.order_by(RESULTS.c.seq).limit(PAGE)


def standings_page(*, after: int, problem: str | None) -> Select[Any]:
    """The query for the next standings after position ``after``."""
    columns = (STANDINGS.c.seq, STANDINGS.c.checksum, STANDINGS.c.standing)
    query = select(*columns).where(STANDINGS.c.seq > after, STANDINGS.c.form == FORM)
    if problem is not None:
        query = query.where(STANDINGS.c.problem == problem)
    return query.order_by(STANDINGS.c.seq).limit(STANDINGS_PAGE)


def _all_have_standings(connection: Connection) -> bool:
    there = select(func.count()).select_from(STANDINGS).where(STANDINGS.c.form == FORM)
    wanted = select(func.count()).select_from(RESULTS)
    return connection.scalar(there) == connection.scalar(wanted)


def _make_page(after: int, connection: Connection) -> tuple[int | None, list[CorruptRecord]]:
    """Make some of the standings that are missing: where to go on, and what could not be read."""
    known = exists().where(STANDINGS.c.seq == RESULTS.c.seq, STANDINGS.c.form == FORM)
    missing = page(after=after, problem=None).where(~known)
    rows = connection.execute(missing).all()
    outcomes = [(row.seq, _read(row)) for row in rows]
    made = [standing_row(seq, each) for seq, each in outcomes if isinstance(each, Result)]
    if made:
        older = STANDINGS.c.seq.in_([row["seq"] for row in made])
        connection.execute(delete(STANDINGS).where(older))
        connection.execute(insert(STANDINGS), made)
    unreadable = [each for _, each in outcomes if isinstance(each, CorruptRecord)]
    return (rows[-1].seq if rows else None), unreadable


def _read_standing(row: Row[Any]) -> Standing | None:
    if not isinstance(row.standing, str) or checksum(row.standing) != row.checksum:
        return None
    try:
        return Standing.from_json(row.standing)
    except ValueError:
        return None


def _fetch(query: Select[Any], connection: Connection) -> Sequence[Row[Any]]:
    return connection.execute(query).all()


def _read(row: Row[Any]) -> Result | CorruptRecord:
    identity, record = str(row.id), row.record
    if not isinstance(record, str) or checksum(record) != row.checksum:
        return CorruptRecord(row.seq, identity, "the record does not match its checksum")
    try:
        result = Result.from_json(record)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()
        return CorruptRecord(row.seq, identity, reason[0] if reason else type(error).__name__)
    if result.id.replace("\0", "\ufffd") != identity:
        return CorruptRecord(row.seq, identity, f"the record is that of {result.id!a}")
    return result


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        # The text is not shown: it may hold a password.
        raise StoreError("not a database URL: sqlite:///FILE or postgresql://…") from error
    shown = parsed.render_as_string(hide_password=True)
    try:
        if parsed.get_backend_name() != "sqlite":
            return create_engine(parsed, pool_pre_ping=True)
        if parsed.database in (None, "", ":memory:"):
            engine = create_engine(
                parsed, poolclass=StaticPool, connect_args={"check_same_thread": False}
            )
        else:
            Path(str(parsed.database)).absolute().parent.mkdir(parents=True, exist_ok=True)
            engine = create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT})
    except ModuleNotFoundError as error:
        raise StoreError(f"{shown}: the driver is missing: pip install {error.name}") from error
    except NoSuchModuleError as error:
        raise StoreError(f"{shown}: unknown kind of database; sqlite or postgresql") from error
    except OSError as error:
        raise StoreError(f"{shown}: {error.strerror}: {error.filename}") from error
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # We say BEGIN ourselves: the module's own implicit one comes too late to be IMMEDIATE.
    connection.isolation_level = None
    # A damaged byte must spoil its own row (by the checksum), not the whole query.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE takes the write lock first, where waiting is possible; a reader that turns into
    # a writer half-way would fail at once instead.
    write = connection.get_execution_options().get("store_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _worth_retrying(error: DBAPIError) -> bool:
    if error.connection_invalidated:
        return True
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is None:  # PostgreSQL: serialization failure, deadlock
        return getattr(error.orig, "sqlstate", None) in ("40001", "40P01")
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _explain(error: DBAPIError) -> str:
    text = " ".join(str(error.orig).split())
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return f"{text}: name another file in HARNESS_STORE"
    if code == sqlite3.SQLITE_CORRUPT:
        return f"{text}: save what can be read with `sqlite3 FILE .recover | sqlite3 NEW`"
    return text
