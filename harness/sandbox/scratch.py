"""The judge's folder for temporary files, and the removal of those that killed judges left.

Each judge makes one folder, as private as :mod:`tempfile` makes them, and locks a file in it for as
long as it lives. A judge that ends removes its folder. If it is killed the kernel releases the
lock, and the next judge of the same user removes the folder. Folders of other users or without our
file, and links, are never touched.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path

from harness.errors import MachineError
from harness.text.system_errors import system_fault

PREFIX = "harness-"
LOCK = "alive"
_FOR_OTHERS = 0o711  # a sandbox of another user id passes through, and cannot list it

_making = threading.Lock()
_homes: dict[tuple[int, str], Path] = {}
"""This process's folders, by process id (a fork makes its own) and parent folder. Global, since a
process has one such folder, which is removed at its exit."""


def home() -> Path:
    """This process's folder for temporary files, made at first; a fork of it gets its own.

    Raises:
        MachineError: the folder for temporary files cannot be written.
    """
    try:
        parent = tempfile.gettempdir()
        key = (os.getpid(), parent)
        with _making:
            if key not in _homes:
                _sweep(Path(parent))
                _homes[key] = _make(parent)
            return _homes[key]
    except OSError as error:
        fault = system_fault(error) or f"no folder for temporary files: {error}"
        raise MachineError(f"{fault} (TMPDIR names another folder)") from error


def _make(parent: str) -> Path:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        folder.chmod(_FOR_OTHERS)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _lock(descriptor) and (folder / LOCK).exists():
            return folder  # the lock is held by the descriptor, open as long as the process lives
        os.close(descriptor)  # between the two calls another judge has taken it for a dead one's
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Remove the folders of judges that are gone."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(PREFIX):
                with contextlib.suppress(OSError):
                    _remove_if_dead(Path(entry.path))


def _remove_if_dead(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_own() -> None:
    """Remove this process's folders; forked children leave their parent's alone."""
    for (pid, _), folder in _homes.items():
        if pid == os.getpid():
            shutil.rmtree(folder, ignore_errors=True)


_remove_own = atexit.register(remove_own)
