"""Which of some files have been saved: by looking, several times a second.

Looking finds every way to save: writing in place, renaming another file over it, removing it and
writing it anew; on file systems, too, that tell of no changes (network, containers).
"""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from harness.languages.read import MAX_BYTES

POLL_S = 0.3


class _Mark(NamedTuple):
    """What changes with (nearly) every way to save; what was read is not read again."""

    modified_ns: int
    changed_ns: int
    bytes: int
    inode: int


class SavedFiles:
    """Tells which files have other contents than when they were last told of, or first seen.

    Args:
        find: the files there are, asked each time anew, so that new ones are seen.
        pause: waits for so many seconds.
    """

    def __init__(
        self, find: Callable[[], Iterable[Path]], *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._find = find
        self._pause = pause
        self._marks: dict[Path, _Mark] = {}
        self._contents: dict[Path, str] = {}
        for path, mark in self._look().items():
            self._differs(path, mark)

    def wait(self) -> list[Path]:
        """Wait until at least one file was saved; the files, in order.

        A file that changes at every look is still being written: it must have stayed the same from
        one look to the next. One that is gone is waited for.
        """
        before = self._look()
        while True:
            self._pause(POLL_S)
            now = self._look()
            settled = [path for path, mark in now.items() if before.get(path) == mark]
            saved = [path for path in settled if self._differs(path, now[path])]
            if saved:
                return saved
            before = now

    def forget(self, path: Path) -> None:
        """Tell of ``path`` again, whatever it holds: nothing came of it."""
        self._marks.pop(path, None)
        self._contents.pop(path, None)

    def _look(self) -> dict[Path, _Mark]:
        marks = {path: _mark(path) for path in self._find()}
        return {path: mark for path, mark in marks.items() if mark is not None}

    def _differs(self, path: Path, mark: _Mark) -> bool:
        if self._marks.get(path) == mark:
            return False
        contents = _contents(path)
        if contents is None:
            return False
        self._marks[path] = mark
        before = self._contents.get(path)
        self._contents[path] = contents
        return contents != before


def _mark(path: Path) -> _Mark | None:
    """None if there is no plain file, which is not waited for: a link, a pipe, nothing yet."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return _Mark(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def _contents(path: Path) -> str | None:
    """SHA-256 of as much as a submission may have; None if it cannot be read just now."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as file:
            return hashlib.sha256(file.read(MAX_BYTES + 1)).hexdigest()
    except OSError:
        return None
