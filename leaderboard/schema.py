"""The tables of a store, and how a store of another version is met.

One row per result: the whole record as JSON with its SHA-256, and copies of what queries ask for.
Only portable types, so that SQLite and PostgreSQL hold the same. ``METADATA`` describes the newest
version; :mod:`leaderboard.migrations` leads there from the older ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa

if TYPE_CHECKING:
    from harness.records.result import Result
    from harness.records.ruling import Ruling

VERSION = 7
"""Version of the tables, kept in ``meta``; the version of the records inside them is theirs."""

OLDEST = 1
"""The oldest version that can be migrated."""

METADATA = sa.MetaData()

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""SQLite keeps the rows of a table in the order of a key of this type, and needs no index."""


class SharedText(sa.TypeDecorator[str]):
    """Text that many rows have in common: equal values are read as one object, quick to group."""

    impl = sa.Text
    cache_ok = True

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[str], str]:  # noqa: ARG002
        """What each value read is passed through."""
        return sys.intern


T = TypeVar("T")


def _columns(
    kind: type[sa.types.TypeEngine[T]], *names: str, null: bool = False
) -> list[sa.Column[T]]:
    return [sa.Column(name, kind(), nullable=null) for name in names]


META = sa.Table(
    "meta",
    METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

RESULTS = sa.Table(
    "results",
    METADATA,
    # Order of arrival. SQLite counts up only in a column that is exactly INTEGER.
    sa.Column("seq", _NUMBER, primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    *_columns(sa.Text, "created"),  # ISO 8601, UTC, microseconds: sorts as text
    *_columns(sa.Text, "problem", "problem_hash", "dtype", "device_kind", "device_name", "verdict"),
    *_columns(sa.Text, "author", "solution_hash", "harness_version"),
    sa.Column("checksum", sa.String(64), nullable=False),
    sa.Column("record", sa.Text, nullable=False),
    sa.Index("results_by_problem", "problem", "seq"),
)

ENTRIES = sa.Table(
    "entries",
    METADATA,
    # What boards are made of, one row for each result, derived from its record: rows that are
    # missing are made again when boards are read, so deleting all rebuilds the table.
    sa.Column("seq", _NUMBER, primary_key=True, autoincrement=False),  # that of the result
    *_columns(SharedText, "problem", "dtype", "device_kind", "device", "harness_major", "baseline"),
    *_columns(sa.Text, "author"),
    *_columns(SharedText, "solution", "language"),
    *_columns(sa.Double, "time_us", "speedup", "speedup_low", "speedup_high", null=True),
    *_columns(SharedText, "unranked_reason"),
    *_columns(sa.DateTime, "date"),  # UTC
    *_columns(SharedText, "problem_hash"),
    *_columns(sa.Text, "solution_hash"),
    *_columns(SharedText, "harness"),
    *_columns(sa.Text, "result"),
    *_columns(sa.Double, "sol_fraction", null=True),
    *_columns(SharedText, "origin"),  # what it was imported from; empty if it was graded here
    *_columns(SharedText, "libraries"),
    *_columns(sa.Boolean, "accepted", "conclusive"),
    *_columns(SharedText, "model", "verdict", "reason"),
    sa.Index("entries_by_problem", "problem", "seq"),
)

RULINGS = sa.Table(
    "rulings",
    METADATA,
    # Only ever added to; the last one about a result holds.
    sa.Column("seq", _NUMBER, primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("result", sa.Text, nullable=False, index=True),  # its id; it need not be there (yet)
    sa.Column("checksum", sa.String(64), nullable=False),
    sa.Column("record", sa.Text, nullable=False),
)

SOURCES = sa.Table(
    "sources",
    METADATA,
    # Submitted files by their SHA-256, which is the solution_hash of the results that they are of.
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)

SCHEMA_KEY = "schema"
_ADVISORY_LOCK = 0x6B65726E  # "kern": an arbitrary number that only this program locks


class SchemaError(Exception):
    """The database is not a store that this version can use; the message says what to do."""


def row_of(result: Result) -> dict[str, str]:
    """The columns of ``result``, without ``seq``."""
    record = result.to_json()
    columns = {
        "id": result.id,
        "created": result.created.isoformat(timespec="microseconds"),
        "problem": result.problem.slug,
        "problem_hash": result.problem.hash,
        "dtype": result.dtype,
        "device_kind": result.device.kind,
        "device_name": result.device.name,
        "verdict": str(result.verdict),
        "author": result.solution.author,
        "solution_hash": result.solution.hash,
        "harness_version": result.environment.harness,
    }
    row = {key: storable(value) for key, value in columns.items()}
    return row | {"checksum": checksum(record), "record": record}


def ruling_row(ruling: Ruling) -> dict[str, str]:
    """The columns of ``ruling``, without ``seq``."""
    record = ruling.to_json()
    row = {"id": storable(ruling.id), "result": storable(ruling.result)}
    return row | {"checksum": checksum(record), "record": record}


def storable(value: str) -> str:
    """``value`` as a column holds it: without NUL (PostgreSQL) and lone surrogates (UTF-8)."""
    if not value.isascii():
        value = value.encode("utf-8", "backslashreplace").decode()
    return value.replace("\0", "\ufffd")


def checksum(record: str) -> str:
    """SHA-256 of a record's text, in hexadecimal."""
    return sha256(record.encode("utf-8", "surrogateescape")).hexdigest()


def version_of(connection: sa.Connection) -> int | None:
    """The version of the store behind ``connection``; None if the database is empty.

    Raises:
        SchemaError: there are tables, but not a store's.
    """
    tables = set(sa.inspect(connection).get_table_names())
    if META.name not in tables:
        # A PostgreSQL database may well hold other people's tables beside ours.
        if RESULTS.name in tables or (tables and connection.dialect.name == "sqlite"):
            raise SchemaError("this database holds something else than results")
        return None
    value = connection.scalar(sa.select(META.c.value).where(META.c.key == SCHEMA_KEY))
    if value is None or not value.isdecimal():
        raise SchemaError(f"this database holds something else than results (schema {value!r})")
    return int(value)


def take_turn(connection: sa.Connection) -> None:
    """Wait for others who make tables or add much at once, as all writers of SQLite do."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})


def prepare(connection: sa.Connection) -> None:
    """Create the tables or migrate them, inside a write transaction.

    Several processes may do so at once: the second finds the work done.

    Raises:
        SchemaError: the store is too new, too old to be migrated, or none; with the remedy.
    """
    take_turn(connection)  # CREATE TABLE IF NOT EXISTS can still fail when two race for it
    version = version_of(connection)
    if version is None:
        METADATA.create_all(connection)
        connection.execute(sa.insert(META).values(key=SCHEMA_KEY, value=str(VERSION)))
        return
    if version > VERSION:
        raise SchemaError(
            f"the store has schema {version}, this harness knows up to {VERSION}: "
            "upgrade the harness, or name another store"
        )
    if version < OLDEST:
        raise SchemaError(
            f"the store has schema {version}, this harness needs {VERSION} and has no migration "
            f"from {version}: keep the file, and name a new store"
        )
    if version < VERSION:
        from leaderboard.migrations import migrate  # Alembic: only older stores need it

        migrate(connection, version)
        connection.execute(
            sa.update(META).where(META.c.key == SCHEMA_KEY).values(value=str(VERSION))
        )
