"""``--json FILE``: results as JSON lines, each written as soon as it is there.

So this file cannot be written as a whole at the end. What it held before stays until there is a
first line; what a full disk or a kill cut off is no line.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from harness.commands.streams import require_stdout
from harness.errors import UsageError
from harness.records.result import Result
from harness.text.output import replacing
from harness.text.plain import json_text, plain
from harness.text.system_errors import as_os_error, cannot_write

_KEPT = "its lines are whole, and what submit has graded is recorded, so --resume goes on"


class ResultsFile:
    """Lines of results in ``target``, which programs may follow; ``-`` is stdout.

    Args:
        target: the path as the user gave it.
        resume: lines that are there stay, but for a last one that was cut off.

    Raises:
        UsageError, MachineError: it cannot be written, also from its methods; or, to be resumed,
            holds something else.
    """

    def __init__(self, target: str, *, resume: bool) -> None:
        self._target = Path(target)
        self._file: IO[bytes] | None = None
        self._former = 0  # bytes that the first line replaces
        self.resumed = False
        """Lines that were there count as written."""
        self.ids: frozenset[str] = frozenset()
        """The results of these."""
        if target == "-":
            require_stdout()
            return
        self._file = self._open()
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            return
        self._former = 0 if resume else self._file.tell()
        if resume:
            self.resumed = True
            self.ids = frozenset(result.id for result, _ in self._lines())

    def add(self, result: Result) -> None:
        """Write ``result``; a part of a line that does not fit on the disk is taken back."""
        line = json_text(result.to_json()) + "\n"
        if self._file is None:
            sys.stdout.write(line)
            sys.stdout.flush()
            return
        data, start = line.encode(), self._file.tell()
        try:
            _write(self._file, data)
            if self._former:  # there was room for the line, so there is for it alone
                self._former = start = 0
                self._file.truncate(0)
                _write(self._file, data)
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(start)
            raise cannot_write(self._target, error, _KEPT) from error

    def keep(self, wanted: Callable[[Result], bool]) -> None:
        """Of the lines that are there leave those of ``wanted`` results, each once."""
        assert self._file is not None, "only a file is resumed"
        left: dict[str, bytes] = {}
        for result, line in self._lines():
            if wanted(result):
                left.setdefault(result.id, line)
        self.ids = frozenset(left)
        if sum(map(len, left.values())) == self._file.tell():
            return
        with replacing(self._target) as file:
            file.writelines(left.values())
        self._file.close()
        self._file = self._open()

    def close(self) -> None:
        """End the file; what it held stays if nothing was written."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> IO[bytes]:
        try:
            return open(self._target, "ab", buffering=0)
        except (OSError, ValueError) as error:
            raise cannot_write(self._target, as_os_error(error)) from error

    def _lines(self) -> Iterator[tuple[Result, bytes]]:
        """The whole lines and their results."""
        place = plain(str(self._target))
        try:
            with self._target.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.endswith(b"\n"):
                        yield _result(line, f"{place}:{number}"), line
        except OSError as error:
            raise UsageError(f"cannot read {place}: {error.strerror}") from error


def _result(line: bytes, place: str) -> Result:
    try:
        return Result.from_json(line.decode())
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{place}: no result, so --resume cannot go on with this file: name another one"
        ) from error


def _write(file: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
