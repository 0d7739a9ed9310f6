"""Submitted files by their hashes: each is stored once, as long as there is a result of it."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, exists, select

from leaderboard.schema import RESULTS, SOURCES

if TYPE_CHECKING:
    from harness.records.result import Result

MAX_BYTES = 1 << 20
"""Of one file. No larger one is graded, either."""


def require_source_of(result: Result, source: bytes) -> None:
    """Refuse what is not the file of ``result``, or too large to be one.

    Raises:
        ValueError: it is not.
    """
    if len(source) > MAX_BYTES:
        raise ValueError(f"a source of {len(source)} bytes; at most {MAX_BYTES} are kept")
    if _digest(source) != result.solution.hash:
        raise ValueError(f"this source is not what result {result.id!a} is of: their hashes differ")


def add(connection: Connection, source: bytes) -> None:
    """Store ``source``; one that is there already, perhaps since just now, stays."""
    from sqlalchemy.dialects import postgresql, sqlite  # a tenth of a second

    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    row = {"hash": _digest(source), "content": source}
    connection.execute(insert(SOURCES).values(row).on_conflict_do_nothing())


def find(connection: Connection, digest: str) -> bytes | None:
    """The file with this SHA-256; None if it is not there, or is damaged."""
    content = connection.scalar(select(SOURCES.c.content).where(SOURCES.c.hash == digest))
    if content is None or _digest(content) != digest:
        return None
    return bytes(content)


def delete_unused(connection: Connection, digests: Collection[str]) -> None:
    """Delete those of ``digests`` that no result is of any more."""
    of_a_result = exists().where(RESULTS.c.solution_hash == SOURCES.c.hash)
    connection.execute(delete(SOURCES).where(SOURCES.c.hash.in_(digests), ~of_a_result))


def _digest(source: bytes) -> str:
    return sha256(source).hexdigest()
