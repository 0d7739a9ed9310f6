"""Files that all users of this machine lock for its GPUs and processors.

They lie in ``kernel-harness-locks`` in the folder for temporary files, which anybody may write to.
Users whose ``TMPDIR`` differs do not see each other. Where that folder or a file in it cannot be
used (somebody put a link there, or gave it other permissions) the file is in the user's own cache
folder, and then only processes of the same user exclude each other. Another user can hold a lock
for as long as they like, but cannot make us open another file.
"""

import contextlib
import os
import re
import stat
import tempfile
from pathlib import Path

import platformdirs

from harness.errors import MachineError

_SHARED = "kernel-harness-locks"
_FOR_ALL = 0o1777  # as /tmp: everybody may make files, nobody may remove another's
_FILE_MODE = 0o666


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

    Links are not followed: somebody's might lead to any file of ours.
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
