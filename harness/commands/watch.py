"""Which of some files have been saved, however that is done.

watchfiles wakes us when something changes in their folders. What counts is what a look at the files
then finds: writing in place, renaming another file over one, removing one and writing it anew.
A look without being told, twice a second, finds what no event tells: changes on network and shared
file systems, in folders that are new, and where the system has no watches left.
"""

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from watchfiles import watch

from harness.languages.read import MAX_BYTES

SETTLED_MS = 300
"""Time without a change after which events count: editors write in several steps."""

LOOK_MS = 500
"""Between looks that no event has caused."""

_Mark = tuple[int, ...]
"""What nearly every way to save changes: a file with the same mark is not read again."""


class SavedFiles:
    """The files whose contents are not what they were when last reported, or first seen.

    Args:
        find: the files there are, asked each time anew, so that new ones are seen.
        events: what has changed since the last item, once that has settled; an empty one after some
            time without. Only whether it is empty matters.
    """

    def __init__(
        self,
        find: Callable[[], Iterable[Path]],
        *,
        events: Iterator[Collection[object]] | None = None,
    ) -> None:
        self._find = find
        self._events = _events({path.parent for path in find()}) if events is None else events
        self._seen: dict[Path, tuple[_Mark, str]] = {}
        for path, mark in self._look().items():
            self._differs(path, mark)

    def wait(self) -> list[Path]:
        """Wait until at least one file was saved; the files, in order.

        Without an event a file must be the same in two looks: one that changes at every look is
        still being written. One that is gone is waited for.
        """
        before = self._look()
        while True:
            told = next(self._events)
            now = self._look()
            settled = [path for path, mark in now.items() if told or before.get(path) == mark]
            if saved := [path for path in settled if self._differs(path, now[path])]:
                return saved
            before = now

    def forget(self, path: Path) -> None:
        """Report ``path`` again, even if its contents stay the same: nothing came of it."""
        self._seen.pop(path, None)

    def _look(self) -> dict[Path, _Mark]:
        return {path: mark for path in self._find() if (mark := _mark(path)) is not None}

    def _differs(self, path: Path, mark: _Mark) -> bool:
        before = self._seen.get(path)
        if before is not None and before[0] == mark:
            return False
        contents = _contents(path)
        if contents is None:
            return False
        self._seen[path] = mark, contents
        return before is None or before[1] != contents


def _events(folders: Iterable[Path]) -> Iterator[Collection[object]]:
    """Changes in ``folders``, not below them, and an empty item every :data:`LOOK_MS`."""
    there = [folder for folder in folders if folder.is_dir()]
    with contextlib.suppress(OSError, RuntimeError):
        yield from watch(
            *there,
            watch_filter=None,
            step=SETTLED_MS,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
            recursive=False,
        )
    while True:  # the system has no watches left, or a folder went away just now
        time.sleep(LOOK_MS / 1000)
        yield ()


def _mark(path: Path) -> _Mark | None:
    """None if there is no plain file, which is not waited for: a link, a pipe, nothing yet."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _contents(path: Path) -> str | None:
    """SHA-256 of as much as a submission may have; None if it cannot be read just now."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as file:
            return hashlib.sha256(file.read(MAX_BYTES + 1)).hexdigest()
    except OSError:
        return None
