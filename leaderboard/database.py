"""How a database is reached, and what its errors mean: SQLite or PostgreSQL behind a URL."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from sqlalchemy import Connection, Engine, Row, Select, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from leaderboard.failures import Patience, StoreError, WrongStoreError, is_damaged_text
from leaderboard.location import sqlite_file, why_read_only

BUSY_TIMEOUT = 30.0
"""Seconds that one statement waits for another writer."""

_LIBPQ = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""Options by which a server that is cut off is missed: seconds, a count, milliseconds."""

T = TypeVar("T")

Query = Select[*tuple[object, ...]]
StoredRow = Row[*tuple[object, ...]]
"""A row of a query; its columns are attributes."""


class Database:
    """One database, for several threads and processes, and after a fork.

    ``url`` shows no password; ``read_only`` says why it can only be read, if that is so.

    Raises:
        StoreError: the URL is wrong, or its driver is not installed.
    """

    def __init__(self, url: str) -> None:
        self.engine, self.read_only = _engine(url)
        self._pid = os.getpid()
        self._damaged_text = False
        self._reached = False
        self.url = self.engine.url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Release all connections. Closing twice is allowed."""
        self.engine.dispose(close=self._pid == os.getpid())

    def run(self, work: Callable[[Connection], T], *, write: bool) -> T:
        """Do ``work`` in one transaction; again if another process was in the way.

        A server that is away is waited for, which is logged as a warning. ``work`` must be safe to
        repeat: a lost connection leaves open whether it was committed.

        Raises:
            StoreError: the database fails, or did so for too long.
        """
        if self._pid != os.getpid():
            # A forked child must not talk over its parent's connections.
            self.engine.dispose(close=False)
            self._pid = os.getpid()
        patience = Patience(self.url)
        while True:
            try:
                with (
                    self.engine.connect().execution_options(store_write=write) as connection,
                    connection.begin(),
                ):
                    self._reached = True
                    if self._damaged_text:
                        _decode_damaged_text(connection)
                    return work(connection)
            except DBAPIError as error:
                if is_damaged_text(error) and not self._damaged_text:
                    self._damaged_text = True
                    continue
                # Connections to a server that was away are of no use, even those that answer.
                if patience.wait_after(error, known=self._reached):
                    self.engine.dispose()

    def rows(self, query: Query) -> Sequence[StoredRow]:
        """All rows that ``query`` gives, in one transaction."""
        return self.run(lambda connection: connection.execute(query).all(), write=False)

    def rows_by_pages(self, page_after: Callable[[int], Query]) -> Iterator[StoredRow]:
        """All rows of the queries for a page after a position (``seq``), each in a transaction."""
        last = -1
        while page := self.rows(page_after(last)):
            yield from page
            last = page[-1].seq


def _engine(url: str) -> tuple[Engine, str]:
    """The engine for ``url``, and why it can only read."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # a port that is no number is the latter
        # The text is not shown: it may hold a password.
        raise WrongStoreError("not a database URL: sqlite:///FILE or postgresql://…") from error
    if parsed.drivername == "postgres":  # as libpq and many hosts call it
        parsed = parsed.set(drivername="postgresql")
    shown = parsed.render_as_string(hide_password=True)
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise WrongStoreError(f"{shown}: unknown kind of database; sqlite or postgresql")
    try:
        if parsed.get_backend_name() != "sqlite":
            libpq = parsed.get_driver_name() in ("psycopg", "psycopg2")
            given = {key: _LIBPQ[key] for key in _LIBPQ.keys() - parsed.query.keys() if libpq}
            engine = create_engine(parsed, pool_pre_ping=True, connect_args=given)
            event.listen(engine, "begin", _begin_postgresql)
            return engine, ""
        file = None if "uri" in parsed.query else sqlite_file(parsed)
        if file is not None and file.is_dir():
            told = "is a folder: name a file, in a folder that you may write"
            raise WrongStoreError(f"{file} {told}")
        if file is not None and (reason := why_read_only(file)):
            engine = create_engine(parsed, creator=partial(_connect_to_read, file))
            event.listen(engine, "begin", _begin_sqlite)
            return engine, reason
        if file is None:
            engine = create_engine(
                parsed, poolclass=StaticPool, connect_args={"check_same_thread": False}
            )
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            engine = create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT})
    except ModuleNotFoundError as error:
        ours = error.name in ("psycopg", "psycopg2")
        package = "'kernel-harness[postgresql]'" if ours else error.name
        raise StoreError(f"{shown}: the driver is missing: pip install {package}") from error
    except NoSuchModuleError as error:
        raise WrongStoreError(f"{shown}: unknown kind of database; sqlite or postgresql") from error
    except OSError as error:
        raise StoreError(f"{shown}: {error.strerror}: {error.filename}") from error
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine, ""


def _connect_to_read(file: Path) -> sqlite3.Connection:
    """A connection to ``file``, beside which nothing can be written.

    Where SQLite needs to do that, it is told that nobody else writes there either, unless there is
    a log that it would leave unread then.
    """
    log = file.with_name(f"{file.name}-wal")
    ways = ["mode=ro"] if log.exists() and log.stat().st_size else ["mode=ro", "immutable=1"]
    while True:
        connection = sqlite3.connect(
            f"{file.as_uri()}?{ways.pop(0)}",
            uri=True,
            timeout=BUSY_TIMEOUT,
            check_same_thread=False,
            isolation_level=None,
        )
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError:
            connection.close()
            if not ways:
                raise
        else:
            return connection


def _configure_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # We say BEGIN ourselves: the module's own implicit one comes too late to be IMMEDIATE.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def _decode_damaged_text(connection: Connection) -> None:
    """From now on a damaged byte spoils its own row (by the checksum), not the whole query.

    Decoding text this way takes longer than SQLite's own.
    """
    raw = cast(sqlite3.Connection, connection.connection.dbapi_connection)
    raw.text_factory = lambda text: text.decode("utf-8", "surrogateescape")


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE takes the write lock first, where waiting is possible; a reader that turns into
    # a writer half-way would fail at once instead.
    write = connection.get_execution_options().get("store_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _begin_postgresql(connection: Connection) -> None:
    if connection.get_execution_options().get("store_write", False):
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(BUSY_TIMEOUT * 1000)}")
