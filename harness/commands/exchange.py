"""Results and rulings as JSON lines, to keep boards in a repository or move them between stores."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from harness.commands.common import open_store
from harness.errors import MachineError, UsageError
from harness.records.result import Result
from harness.records.ruling import Ruling
from harness.text.plain import json_text, plain

LINE_BYTES = 16 << 20
"""Most bytes of a line; a record has some ten kilobytes."""


def write_lines(entries: Iterable[Result | Ruling], file: TextIO) -> int:
    """Write a line for each result or ruling, in the order given; returns how many."""
    count = 0
    for entry in entries:
        file.write(json_text(entry.to_json()) + "\n")
        count += 1
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
        raise MachineError(
            f"no room to check what is imported: {plain(str(error))}: name another folder in TMPDIR"
        ) from error
    with bulk, open_store(place) as store:
        store.add_all(bulk)
    return bulk.count


def read_lines(path: Path) -> Iterator[Result | Ruling]:
    """The results and rulings that :func:`write_lines` wrote, in that order.

    Raises:
        UsageError: the file cannot be read, cannot be read twice (a pipe), or has a line that is
            neither; the message names the line.
    """
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{plain(str(path))} can be read only once: make it a file")
            lines = iter(lambda: file.readline(LINE_BYTES + 1), b"")
            for number, line in enumerate(lines, start=1):
                yield _entry(line, f"{plain(str(path))}:{number}")
    except OSError as error:
        raise UsageError(f"cannot read {plain(str(path))}: {error.strerror}") from error


def _entry(line: bytes, place: str) -> Result | Ruling:
    if len(line) > LINE_BYTES:
        raise UsageError(f"{place}: longer than {LINE_BYTES >> 20} MiB, so it is no result")
    try:
        text = line.decode("utf-8")
        # Most lines are results, which are long: they are parsed once.
        ruling = '"ruling"' in text[:100] and "ruling" in json.loads(text)
        return Ruling.from_json(text) if ruling else Result.from_json(text)
    except (ValueError, RecursionError) as error:
        reason = plain(str(error).splitlines()[0], 200)
        raise UsageError(
            f"{place}: no result of this harness ({reason}); nothing was imported"
        ) from error
