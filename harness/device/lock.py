"""One timing at a time on each GPU of this machine, over all its users."""

import contextlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from harness.errors import MachineError

_POLL_S, _REPORT_S = 0.05, 1.0
_SHARED = "kernel-harness-locks"
_FOR_ALL = 0o1777  # as /tmp: everybody may make files, nobody may remove another's
_FILE_MODE = 0o666


@contextmanager
def exclusive(uuid: str, waiting: Callable[[float], None]) -> Iterator[float]:
    """Lock the GPU with this UUID; the value is the time waited for it, in seconds.

    ``waiting`` is called with the seconds so far as soon as somebody else has the GPU, and about
    once a second from then on; what it raises ends the wait. The lock is the operating system's, so
    a holder that is killed lets go. A thread that holds it may enter again; others of the process
    wait. A holder must not fork without executing another program: the child would hold it, too.

    The lock is a file in ``kernel-harness-locks`` in the folder for temporary files, which anybody
    may write to. Users whose ``TMPDIR`` differs do not see each other. Where that folder or the
    file in it cannot be used (somebody put a link there, or gave it other permissions) the file is
    in the user's own cache folder, and then only processes of the same user exclude each other.
    Another user can hold the lock for as long as they like, but cannot make us open another file.

    Raises:
        MachineError: no lock file can be made in either folder, or it cannot be locked.
    """
    # With and without the prefix it is the same card; torch leaves it out.
    path = lock_file(f"gpu-{uuid.removeprefix('GPU-')}")
    # The same instance for every entry of a path: only that knows that this thread has it already.
    lock = FileLock(path, mode=_FILE_MODE, is_singleton=True)
    waited = _acquire(lock, waiting)
    try:
        yield waited
    finally:
        lock.release()


def _acquire(lock: FileLock, waiting: Callable[[float], None]) -> float:
    started = time.monotonic()
    waited = report_at = 0.0
    while True:
        try:
            lock.acquire(timeout=0)
            return waited
        except Timeout:
            waited = time.monotonic() - started
        except OSError as error:
            text = f"cannot lock the GPU: {error} (see what {lock.lock_file} is)"
            raise MachineError(text) from error
        if waited >= report_at:
            waiting(waited)
            report_at = waited + _REPORT_S
        time.sleep(_POLL_S)


def lock_file(what: str) -> Path:
    """The file to lock for ``what``, which exists and is an ordinary one.

    Raises:
        MachineError: there is no place for it.
    """
    name = f"kernel-harness-{re.sub(r'[^A-Za-z0-9-]', '_', what)[:68]}.lock"
    with contextlib.suppress(OSError):
        return _ready(_shared_folder() / name)
    own = Path(platformdirs.user_cache_dir("kernel-harness")) / "locks"
    try:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _ready(own / name)
    except OSError as error:
        remedy = "(set TMPDIR to a folder that can be written)"
        raise MachineError(f"cannot make a lock file for the GPU: {error} {remedy}") from error


def _shared_folder() -> Path:
    """The folder that all users share; OSError if it cannot be made or is not for everybody."""
    folder = Path(tempfile.gettempdir()) / _SHARED
    if not os.path.lexists(folder):
        # Made under another name first, since all users must be able to write to it at once.
        made = Path(tempfile.mkdtemp(prefix=f"{_SHARED}-", dir=folder.parent))
        try:
            made.chmod(_FOR_ALL)
            made.rename(folder)
        except OSError:
            made.rmdir()
            if not os.path.lexists(folder):  # else somebody else was faster
                raise
    mode = folder.lstat().st_mode
    if not stat.S_ISDIR(mode) or stat.S_IMODE(mode) & _FOR_ALL != _FOR_ALL:
        raise NotADirectoryError(f"{folder} is not a folder for everybody")
    return folder


def _ready(path: Path) -> Path:
    """Make the file if it is not there; OSError if it is no ordinary file that can be written.

    Links are not followed: old releases of filelock do, and empty the file that they open.
    """
    # Not blocking: it may be a pipe. Without O_CREAT at first: in such a folder Linux refuses that
    # for another user's file (fs.protected_regular).
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            made = os.open(path, flags | os.O_CREAT | os.O_EXCL, _FILE_MODE)
            os.fchmod(made, _FILE_MODE)  # whatever the umask
            os.close(made)
        descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise FileExistsError(f"{path} is no ordinary file")
        os.utime(descriptor)  # in use: what clears old temporary files shall leave it
    finally:
        os.close(descriptor)
    return path
