"""What the rows of a store hold, if they still are what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import Row

from leaderboard.schema import checksum, storable

if TYPE_CHECKING:
    from harness.records.result import Result
    from harness.records.ruling import Ruling

T = TypeVar("T", "Result", "Ruling")


class CorruptRecord(NamedTuple):
    """A row that could not be read: its position, its id as stored, and what is wrong."""

    seq: int
    id: str
    reason: str


def read_result(row: Row[Any]) -> Result | CorruptRecord:
    """The result in ``row``, or what is wrong with it."""
    from harness.records.result import Result

    return _read(row, Result.from_json, lambda _: True)


def readable(
    rows: Iterable[Row[Any]],
    read: Callable[[Row[Any]], T | CorruptRecord],
    report: Callable[[CorruptRecord], None],
) -> Iterator[T]:
    """What ``read`` finds in ``rows``; those that cannot be read are handed to ``report``."""
    for row in rows:
        outcome = read(row)
        if isinstance(outcome, CorruptRecord):
            report(outcome)
        else:
            yield outcome


def read_ruling(row: Row[Any]) -> Ruling | CorruptRecord:
    """The ruling in ``row``, or what is wrong with it."""
    from harness.records.ruling import Ruling

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
