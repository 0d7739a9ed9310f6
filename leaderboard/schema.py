"""The tables of a store, and how a store of another version is met.

One row per result: the whole record as JSON with its SHA-256, and copies of what queries ask for.
Only portable types, so that SQLite and PostgreSQL hold the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING
from zlib import crc32

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
    text,
    update,
)

from leaderboard.standing import FORM, standing

if TYPE_CHECKING:
    from harness.records.result import Result
    from harness.records.ruling import Ruling

VERSION = 4
"""Version of the tables; the version of the records inside them is theirs."""

METADATA = MetaData()

_NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite keeps the rows of a table in the order of a key of this type, and needs no index."""

META = Table(
    "meta",
    METADATA,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

RESULTS = Table(
    "results",
    METADATA,
    # Order of arrival. SQLite counts up only in a column that is exactly INTEGER.
    Column("seq", _NUMBER, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("created", Text, nullable=False),  # ISO 8601, UTC, microseconds: sorts as text
    Column("problem", Text, nullable=False),
    Column("problem_hash", Text, nullable=False),
    Column("dtype", Text, nullable=False),
    Column("device_kind", Text, nullable=False),
    Column("device_name", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("solution_hash", Text, nullable=False),
    Column("harness_version", Text, nullable=False),
    Column("checksum", String(64), nullable=False),
    Column("record", Text, nullable=False),
    Index("results_by_problem", "problem", "seq"),
)

STANDINGS = Table(
    "standings",
    METADATA,
    # What boards are made of, derived from the records; what is missing is made again.
    Column("seq", _NUMBER, primary_key=True, autoincrement=False),  # that of the result
    Column("problem", Text, nullable=False),
    Column("form", Integer, nullable=False),
    Column("checksum", BigInteger, nullable=False),  # CRC-32
    Column("standing", LargeBinary, nullable=False),
)

RULINGS = Table(
    "rulings",
    METADATA,
    # What was said of results, only ever added to; the last one about a result holds.
    Column("seq", _NUMBER, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("result", Text, nullable=False, index=True),  # its id; it need not be there (yet)
    Column("checksum", String(64), nullable=False),
    Column("record", Text, nullable=False),
)

SOURCES = Table(
    "sources",
    METADATA,
    # Submitted files by their SHA-256, which is the solution_hash of the results that they are of.
    Column("hash", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

MIGRATIONS: Mapping[int, Callable[[Connection], None]] = {
    # An older harness must not open a store with rulings: it would count what does not.
    1: lambda connection: RULINGS.create(connection, checkfirst=True),
    # Nor one with sources: it would keep those of results that it deletes.
    2: lambda connection: SOURCES.create(connection, checkfirst=True),
    # Standings were text; they are made again from the records.
    3: lambda connection: STANDINGS.drop(connection, checkfirst=True),
}
"""From version *n* to *n + 1*, run inside the transaction that raises the version."""

SCHEMA_KEY = "schema"
_ADVISORY_LOCK = 0x6B65726E  # "kern": an arbitrary number that only this program locks


class SchemaError(Exception):
    """The database is not a store that this version can use; the message says what to do."""


def row_of(result: Result) -> dict[str, str]:
    """The columns of ``result``, without ``seq``."""
    record = result.to_json()
    row = {
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
    row = {key: storable(value) for key, value in row.items()}
    return row | {"checksum": checksum(record), "record": record}


def standing_row(seq: int, result: Result) -> dict[str, str | int | bytes]:
    """The columns of the standing of the result at ``seq``."""
    written = standing(result).to_bytes()
    return {
        "seq": seq,
        "problem": storable(result.problem.slug),
        "form": FORM,
        "checksum": crc32(written),
        "standing": written,
    }


def ruling_row(ruling: Ruling) -> dict[str, str]:
    """The columns of ``ruling``, without ``seq``."""
    record = ruling.to_json()
    row = {"id": storable(ruling.id), "result": storable(ruling.result)}
    return row | {"checksum": checksum(record), "record": record}


def storable(value: str) -> str:
    """``value`` as a column holds it: without NUL (PostgreSQL) and lone surrogates (UTF-8)."""
    return value.encode("utf-8", "backslashreplace").decode().replace("\0", "\ufffd")


def checksum(record: str) -> str:
    """SHA-256 of a record's text, in hexadecimal."""
    return sha256(record.encode("utf-8", "surrogateescape")).hexdigest()


def version_of(connection: Connection) -> int | None:
    """The version of the store behind ``connection``; None if the database is empty.

    Raises:
        SchemaError: there are tables, but not a store's.
    """
    tables = set(inspect(connection).get_table_names())
    if META.name not in tables:
        # A PostgreSQL database may well hold other people's tables beside ours.
        if RESULTS.name in tables or (tables and connection.dialect.name == "sqlite"):
            raise SchemaError("this database holds something else than results")
        return None
    value = connection.scalar(select(META.c.value).where(META.c.key == SCHEMA_KEY))
    if value is None or not value.isdecimal():
        raise SchemaError(f"this database holds something else than results (schema {value!r})")
    return int(value)


def is_ready(connection: Connection) -> bool:
    """Whether nothing has to be made before the store is used.

    Raises:
        SchemaError: there are tables, but not a store's.
    """
    return version_of(connection) == VERSION and inspect(connection).has_table(STANDINGS.name)


def require_usable(version: int) -> None:
    """Refuse a store that is too new, or too old to be migrated.

    Raises:
        SchemaError: with the remedy.
    """
    if version > VERSION:
        raise SchemaError(
            f"the store has schema {version}, this harness knows up to {VERSION}: "
            "upgrade the harness, or name another store in HARNESS_STORE"
        )
    missing = [old for old in range(version, VERSION) if old not in MIGRATIONS]
    if missing:
        raise SchemaError(
            f"the store has schema {version}, this harness needs {VERSION} and has no migration "
            f"from {missing[0]}: keep the file, and name a new store in HARNESS_STORE"
        )


def prepare(connection: Connection) -> None:
    """Create the tables or migrate them, inside a write transaction.

    Several processes may do so at once: the second finds the work done.

    Raises:
        SchemaError: the database cannot be used.
    """
    if connection.dialect.name == "postgresql":
        # CREATE TABLE IF NOT EXISTS can still fail when two sessions race for it.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
    version = version_of(connection)
    if version is None:
        METADATA.create_all(connection)
        connection.execute(insert(META).values(key=SCHEMA_KEY, value=str(VERSION)))
        return
    require_usable(version)
    for old in range(version, VERSION):
        MIGRATIONS[old](connection)
    STANDINGS.create(connection, checkfirst=True)  # where there were none, or of another kind
    if version < VERSION:
        connection.execute(update(META).where(META.c.key == SCHEMA_KEY).values(value=str(VERSION)))
