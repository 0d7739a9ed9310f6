"""Files that have been saved: written in place, replaced by a rename, or removed and written anew.

watchfiles reports events in their folders; contents are then compared. They are also compared twice
a second without an event, for changes that cause none: on network and shared file systems, in new
folders, and where the system has no watches left.
"""

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from watchfiles import watch

from harness.solution.contents import MAX_BYTES
from harness.solution.generation.sample_file import RecordError, lies_at, record_at, sample_place

SETTLED_MS = 300
"""Time without a change after which events count: editors write in several steps."""

LOOK_MS = 500
"""Time between two looks at the files without an event."""

_Mark = tuple[int, ...]
"""Times, size and inode of a file, which is not read again while they stay the same."""


class SavedFiles:
    """The files whose contents differ from when they were last reported, or first seen.

    Args:
        find: gives the files to watch; called at each look, so that new ones are seen.
        events: changes since the last item, once they have settled; empty after some time without.
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
        """Wait until at least one file was saved; returns the saved files, in order.

        Without an event a file must be the same in two looks: one that changes at every look is
        still being written. A missing file is waited for.
        """
        before = self._look()
        while True:
            events = next(self._events)
            now = self._look()
            settled = [path for path, mark in now.items() if events or before.get(path) == mark]
            if saved := [path for path in settled if self._differs(path, now[path])]:
                return saved
            before = now

    def forget(self, path: Path) -> None:
        """Report ``path`` at its next save, even if its contents stay the same."""
        self._seen.pop(path, None)

    def _look(self) -> dict[Path, _Mark]:
        return {path: mark for path in self._find() if (mark := _mark(path)) is not None}

    def _differs(self, path: Path, mark: _Mark) -> bool:
        before = self._seen.get(path)
        if before is not None and before[0] == mark:
            return False
        if (contents := _contents(path)) is None:
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
    """The mark of a plain file; None for a link, a pipe or nothing."""
    with contextlib.suppress(OSError, ValueError):
        found = os.lstat(lies_at(path))
        if stat.S_ISREG(found.st_mode):
            return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
    return None


def _contents(path: Path) -> str | None:
    """SHA-256 of as much as a submission may have; None if it cannot be read just now."""
    if (place := sample_place(path)) is not None:
        with contextlib.suppress(RecordError):
            return hashlib.sha256(record_at(place)[1]).hexdigest()
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError), os.fdopen(os.open(path, flags), "rb") as file:
        return hashlib.sha256(file.read(MAX_BYTES + 1)).hexdigest()
    return None
