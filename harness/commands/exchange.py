"""Results and rulings as JSON lines, to keep boards in a repository or move them between stores."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from harness.errors import UsageError
from harness.records.result import Result
from harness.records.ruling import Ruling
from harness.text.plain import json_text, plain

if TYPE_CHECKING:
    from leaderboard.store import Store

Check = Callable[[Result | Ruling], None] | None

LINE_BYTES = 16 << 20
"""Most bytes of a line; a record has some ten kilobytes."""


def write_lines(entries: Iterable[Result | Ruling], file: TextIO) -> int:
    """Write a line for each result or ruling, in the order given; returns how many."""
    count = 0
    for entry in entries:
        file.write(json_text(entry.to_json()) + "\n")
        count += 1
    return count


def take_in(entries: Iterable[Result | Ruling], store: Store) -> Counter[type]:
    """Add ``entries`` to ``store``; returns how many there were of each kind."""
    count = Counter[type]()
    for entry in entries:
        if isinstance(entry, Result):
            store.add(entry)
        else:
            store.add_ruling(entry)
        count[type(entry)] += 1
    return count


def read_lines(path: Path, check: Check = None) -> Iterator[Result | Ruling]:
    """The results and rulings that :func:`write_lines` wrote, in that order.

    ``check`` is given each and raises ValueError for what must not be there.

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
                yield _entry(line, f"{plain(str(path))}:{number}", check)
    except OSError as error:
        raise UsageError(f"cannot read {plain(str(path))}: {error.strerror}") from error


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
