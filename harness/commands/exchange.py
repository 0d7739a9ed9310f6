"""Results and rulings as JSON lines, to keep boards in a repository or move them between stores.

The first line of an export announces how many there are, so that a part of one is not taken for
the whole. Exports one behind the other are one file; lines without such a header are taken as they
are.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from harness.commands.common import open_store
from harness.errors import UsageError
from harness.records.result import Result
from harness.records.ruling import Ruling
from harness.text.plain import json_text, plain
from harness.text.system_errors import cannot_write

Check = Callable[[Result | Ruling], None] | None

LINE_BYTES = 16 << 20
"""Most bytes of a line; a record has some ten kilobytes."""

_HEADER = "export"
_HEADER_START = b'{"export":'
_COPY_CHARACTERS = 1 << 20


def write_lines(entries: Iterable[Result | Ruling], file: TextIO) -> int:
    """Write a line for each result or ruling, in the order given; returns how many."""
    count = 0
    for entry in entries:
        file.write(json_text(entry.to_json()) + "\n")
        count += 1
    return count


def write_export(
    results: Iterable[Result], rulings: Callable[[], Iterable[Ruling]], file: TextIO
) -> Counter[type]:
    """Write an export: its header, then a line for each; returns how many there are of each kind.

    ``rulings`` is called when the results are there: it may miss none about them.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as lines:
        count = Counter[type]({Result: write_lines(results, lines)})
        count[Ruling] = write_lines(rulings(), lines)
        announced = {"results": count[Result], "rulings": count[Ruling]}
        file.write(json.dumps({_HEADER: announced}) + "\n")
        lines.seek(0)
        shutil.copyfileobj(lines, file, _COPY_CHARACTERS)
    return count


def take_in(entries: Iterable[Result | Ruling], place: str | None) -> Counter[type]:
    """Add ``entries`` to the store at ``place``, all or none; how many there were of each class.

    They are read to the end before the store is opened.

    Raises:
        MachineError: the store fails, holds something else under the id of one, or there is no
            room for a copy of the entries.
    """
    from leaderboard.bulk import Bulk

    try:
        bulk = Bulk(entries)
    except OSError as error:
        raise cannot_write(tempfile.gettempdir(), error) from error
    with bulk, open_store(place) as store:
        store.add_all(bulk)
    return bulk.count


def read_lines(path: Path, check: Check = None) -> Iterator[Result | Ruling]:
    """The results and rulings that :func:`write_export` or :func:`write_lines` wrote, in order.

    ``check`` is given each and raises ValueError for what must not be there.

    Raises:
        UsageError: the file cannot be read, cannot be read twice (a pipe), has a line that is
            neither, which the message names, or not as many as a header announces.
    """
    place = plain(str(path))
    part = _Part(place)
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{place} can be read only once: make it a file")
            lines = iter(lambda: file.readline(LINE_BYTES + 1), b"")
            number, line = 0, b""
            for number, line in enumerate(lines, start=1):
                if (announced := _header(line)) is not None:
                    part.require_whole()
                    part = _Part(place, number, announced)
                elif part.announced is not None and len(line) <= LINE_BYTES and line[-1:] != b"\n":
                    part.require_whole(cut=True)
                else:
                    entry = _entry(line, f"{place}:{number}", check)
                    part.found[type(entry)] += 1
                    yield entry
            part.require_whole(cut=part.number == number and line[-1:] != b"\n")
    except OSError as error:
        raise UsageError(f"cannot read {place}: {error.strerror}") from error


class _Part:
    """The lines behind the header in line ``number`` of a file, or those before the first one."""

    def __init__(
        self, place: str, number: int = 0, announced: tuple[int, int] | None = None
    ) -> None:
        self.place = place
        self.number = number
        self.announced = announced
        self.found = Counter[type]()

    def require_whole(self, *, cut: bool = False) -> None:
        """Raise UsageError unless there is what the header announces, and no line was ``cut``."""
        found = self.found[Result], self.found[Ruling]
        if self.announced is None or (found == self.announced and not cut):
            return
        results, rulings = self.announced
        announced = f"{results:,} {'result' if results == 1 else 'results'} and "
        announced += f"{rulings:,} {'ruling' if rulings == 1 else 'rulings'}"
        header = "its first line" if self.number == 1 else f"its line {self.number}"
        more = found[0] > results or found[1] > rulings
        raise UsageError(
            f"{self.place}: {header} announces {announced}, there are "
            f"{found[0]:,} and {found[1]:,}{' and a part of one' if cut else ''}: it was "
            f"{'changed' if more else 'cut short'}; nothing was imported. Export again; to take "
            f"what there is, leave {header} away"
        )


def _header(line: bytes) -> tuple[int, int] | None:
    """How many results and rulings ``line`` announces; None if it is no header."""
    if not line.startswith(_HEADER_START):
        return None
    try:
        announced = json.loads(line)[_HEADER]
        numbers = announced["results"], announced["rulings"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None  # it is no result either, which will be said
    return numbers if all(type(number) is int and number >= 0 for number in numbers) else None


def _entry(line: bytes, place: str, check: Check) -> Result | Ruling:
    if len(line) > LINE_BYTES:
        raise UsageError(f"{place}: longer than {LINE_BYTES >> 20} MiB, so it is no result")
    try:
        text = line.decode("utf-8")
        # Most lines are results, which are long: they are parsed once.
        ruling = '"ruling"' in text[:100] and "ruling" in json.loads(text)
        entry = Ruling.from_json(text) if ruling else Result.from_json(text)
    except (ValueError, RecursionError) as error:
        reason = plain(str(error).splitlines()[0], 200)
        raise UsageError(
            f"{place}: no result of this harness ({reason}); nothing was imported"
        ) from error
    try:
        if check is not None:
            check(entry)
    except ValueError as error:
        raise UsageError(f"{place}: {plain(str(error), 400)}; nothing was imported") from error
    return entry
