"""What the rows of a store hold, if they still are what was written."""

from typing import Any, NamedTuple

from sqlalchemy import Row

from harness.result import Result
from harness.ruling import Ruling
from leaderboard.schema import checksum, storable
from leaderboard.standing import Standing


class CorruptRecord(NamedTuple):
    """A row that could not be read: its position, its id as stored, and what is wrong."""

    seq: int
    id: str
    reason: str


def read_result(row: Row[Any]) -> Result | CorruptRecord:
    """The result in ``row``, or what is wrong with it."""
    identity, record = str(row.id), row.record
    if not isinstance(record, str) or checksum(record) != row.checksum:
        return CorruptRecord(row.seq, identity, "the record does not match its checksum")
    try:
        result = Result.from_json(record)
    except (ValueError, RecursionError) as error:
        return CorruptRecord(row.seq, identity, _reason(error))
    if storable(result.id) != identity:
        return CorruptRecord(row.seq, identity, f"the record is that of {result.id!a}")
    return result


def read_ruling(row: Row[Any]) -> Ruling | CorruptRecord:
    """The ruling in ``row``, or what is wrong with it."""
    identity, record = str(row.id), row.record
    if not isinstance(record, str) or checksum(record) != row.checksum:
        return CorruptRecord(row.seq, identity, "the record does not match its checksum")
    try:
        ruling = Ruling.from_json(record)
    except (ValueError, RecursionError) as error:
        return CorruptRecord(row.seq, identity, _reason(error))
    if storable(ruling.id) != identity or storable(ruling.result) != row.result:
        return CorruptRecord(row.seq, identity, f"the record is that of {ruling.id!a}")
    return ruling


def _reason(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def read_standing(row: Row[Any]) -> Standing | None:
    """The standing in ``row``; None if it is damaged."""
    if not isinstance(row.standing, str) or checksum(row.standing) != row.checksum:
        return None
    try:
        return Standing.from_json(row.standing)
    except ValueError:
        return None
