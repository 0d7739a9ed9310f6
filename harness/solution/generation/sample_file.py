"""JSON lines of generations: a file whose records are submissions, each by its number.

``samples.jsonl:3`` is the record in line 3; of a file that is one JSON value (a list, lists by
level, or one object) it is the third. Reading parses JSON, and looks at keys; nothing more.
"""

import json
import os
import re
import stat
from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.solution.generation.record import is_sample
from harness.solution.suffixes import RECORDS

MAX_LINE = 16 << 20
"""Bytes of a record in a line of its own."""
MAX_WHOLE = 64 << 20
"""Bytes of a file that is one JSON value."""

_PLACE = re.compile(r"(.+\.(?:jsonl|ndjson|json)):([1-9]\d{0,8})", re.DOTALL)


class RecordError(Exception):
    """Why a record cannot be read."""


class Place(NamedTuple):
    """A record: its file and number."""

    file: Path
    number: int


def sample_place(path: Path) -> Place | None:
    """The record that ``path`` names; None if it is a file's own name."""
    found = _PLACE.fullmatch(str(path))
    if found is None or os.path.lexists(path):
        return None
    return Place(Path(found[1]), int(found[2]))


def lies_at(path: Path) -> Path:
    """The file that has to be there for ``path``, a file or a record in one."""
    place = sample_place(path)
    return path if place is None else place.file


def sample_paths(path: Path) -> list[Path] | None:
    """A path for each record of a file of samples; None for any other file."""
    if path.suffix not in RECORDS:
        return None
    try:
        return [Path(f"{path}:{number}") for number in _opened(path).numbers()]
    except (RecordError, OSError):
        return None


def record_at(place: Place) -> tuple[Mapping[str, object], bytes]:
    """A record, and its bytes.

    Raises:
        RecordError: there is none, or it is no JSON object.
    """
    try:
        return _opened(place.file).record(place.number)
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}") from None


class _Lines:
    """A file with a record in each line that is not empty: where each begins."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("Q")
        with _plain(path) as file:
            at = 0
            for line in file:
                self._starts.append(at)
                at += len(line)
            self._end = at

    def numbers(self) -> Iterator[int]:
        with _plain(self._path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number

    def record(self, number: int) -> tuple[Mapping[str, object], bytes]:
        if number > len(self._starts):
            raise RecordError("there is no such line")
        with _plain(self._path) as file:
            file.seek(self._starts[number - 1])
            line = file.readline(MAX_LINE + 1)
        if len(line) > MAX_LINE:
            raise RecordError(f"is longer than {MAX_LINE >> 20} MiB")
        return _object(_parsed(line)), line


class _Whole:
    """A file that is one JSON value."""

    def __init__(self, value: object) -> None:
        self.records = list(_records(value))

    def numbers(self) -> Iterator[int]:
        yield from range(1, len(self.records) + 1)

    def record(self, number: int) -> tuple[Mapping[str, object], bytes]:
        if number > len(self.records):
            raise RecordError("there is no such record")
        found = _object(self.records[number - 1])
        return found, json.dumps(found).encode()


def _opened(path: Path) -> _Lines | _Whole:
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise RecordError("is no plain file")
    mark = found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
    return _read(path.absolute(), *mark)


@lru_cache(maxsize=2)
def _read(path: Path, *_seen: int) -> _Lines | _Whole:
    """The file as it was seen.

    Raises:
        RecordError: it has no samples.
    """
    with _plain(path) as file:
        lines = (line for line in iter(lambda: file.readline(MAX_LINE + 1), b"") if line.strip())
        first, second = next(lines, b""), next(lines, b"")
        try:
            value, by_line = _parsed(first), path.suffix != ".json" or bool(second)
        except RecordError:
            value, by_line = None, False
        if by_line:
            if not is_sample(value):
                raise RecordError("has no samples")
            return _Lines(path)
        file.seek(0)
        text = file.read(MAX_WHOLE + 1)
    try:
        if len(text) > MAX_WHOLE:
            raise RecordError(f"is one value of more than {MAX_WHOLE >> 20} MiB: write JSON lines")
        whole = _Whole(_parsed(text))
    except RecordError:
        if path.suffix == ".json":
            raise
        return _Lines(path)  # a line's mistake is told when it is read
    if not any(map(is_sample, whole.records)):
        raise RecordError("has no samples")
    return whole


def _records(value: object) -> Iterator[object]:
    """The records of a list, of lists by level (``{"1": [...]}``), or of one object."""
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values()):
        for key, each in value.items():
            level = {"level_id": key} if key.isdecimal() else {}
            for record in each:
                yield {**level, **record} if isinstance(record, dict) else record
    else:
        yield value


def _parsed(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        what = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise RecordError(f"is no JSON ({what})") from None


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise RecordError("is no JSON object")
    return value


def _plain(path: Path) -> BinaryIO:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags), "rb")
