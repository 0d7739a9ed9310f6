"""What the rows of a store hold, if they still are what was written."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Row

from harness.result import Result
from harness.ruling import Ruling
from leaderboard.schema import checksum, storable
from leaderboard.standing import Standing, many_from_json

T = TypeVar("T", Result, Ruling)


class CorruptRecord(NamedTuple):
    """A row that could not be read: its position, its id as stored, and what is wrong."""

    seq: int
    id: str
    reason: str


def read_result(row: Row[Any]) -> Result | CorruptRecord:
    """The result in ``row``, or what is wrong with it."""
    return _read(row, Result.from_json, lambda _: True)


def read_ruling(row: Row[Any]) -> Ruling | CorruptRecord:
    """The ruling in ``row``, or what is wrong with it."""
    return _read(row, Ruling.from_json, lambda ruling: storable(ruling.result) == row.result)


def _read(row: Row[Any], parse: Callable[[str], T], fits: Callable[[T], bool]) -> T | CorruptRecord:
    """The record in ``row``, if it is whole, has the row's id and ``fits`` its other columns."""
    identity, record = str(row.id), row.record
    if not isinstance(record, str) or checksum(record) != row.checksum:
        return CorruptRecord(row.seq, identity, "the record does not match its checksum")
    try:
        found = parse(record)
    except (ValueError, RecursionError) as error:
        return CorruptRecord(row.seq, identity, _reason(error))
    if storable(found.id) != identity or not fits(found):
        return CorruptRecord(row.seq, identity, f"the record is that of {found.id!a}")
    return found


def _reason(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def read_standings(rows: Sequence[Row[Any]]) -> list[Standing | None]:
    """The standing in each of ``rows``; None where it is damaged."""
    whole = [
        isinstance(row.standing, str) and checksum(row.standing) == row.checksum for row in rows
    ]
    if all(whole) and (found := many_from_json([row.standing for row in rows])) is not None:
        return list(found)
    return [
        _standing(row.standing) if good else None for row, good in zip(rows, whole, strict=True)
    ]


def _standing(text: str) -> Standing | None:
    try:
        return Standing.from_json(text)
    except ValueError:
        return None
