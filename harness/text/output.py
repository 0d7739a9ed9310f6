"""Files that a command writes: the new one as a whole, or the old one as it was.

What is written goes to a temporary file beside the target, which takes the target's place when it
is complete and on the disk. Whatever ends the program before that leaves the old file; a temporary
file that a killed program left is removed by the next one that writes into the folder.
"""

import contextlib
import errno
import fcntl
import io
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, ParamSpec, TextIO, TypeVar

from harness.text.system_errors import as_os_error, cannot_write

P = ParamSpec("P")
T = TypeVar("T")

_PADDING = re.compile(r" +(?=\n)")
_PREFIX, _SUFFIX = ".harness-", ".new"
_MAX_LINKS = 40
_NO_NEW_FILE = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of a folder that takes no new file; one that is in it may be open to writing."""
_NO_RENAME = (errno.EXDEV, errno.EBUSY, errno.EACCES, errno.EPERM)


@contextlib.contextmanager
def replacing(target: Path, *, new: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of ``target`` if the block ends well.

    Links stay: what they lead to is replaced. The file keeps its owner and permissions. What is no
    file (a pipe, ``/dev/stdout``) is written to directly; so is a file whose folder takes no other
    one, when all is there.

    Args:
        target: the path as the user gave it.
        new: refuse to replace anything.

    Raises:
        UsageError: there can be no such file.
        MachineError: the machine failed, as when the disk is full; the old file is unchanged.
    """
    made: tuple[Path, int] | None = None
    try:
        if new:
            _refuse_existing(target)
        place = regular_file(target)
        if place is None:
            descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        else:
            made = _temporary_for(place)
            descriptor = made[1]
    except (OSError, ValueError) as error:
        raise cannot_write(target, as_os_error(error)) from error
    kept = "the old file is unchanged" if place is not None and place.exists() else ""
    raw = _Named(descriptor, target, kept)
    try:
        with raw:
            file = io.BufferedWriter(raw)
            yield file
            file.flush()
            if made is not None and place is not None:
                if new:
                    raw.guarded(_refuse_existing, target)
                raw.guarded(_put, made[0], descriptor, place)
    finally:
        if made is not None:
            with contextlib.suppress(OSError):
                made[0].unlink()


@contextlib.contextmanager
def replacing_text(target: Path) -> Iterator[TextIO]:
    """As :func:`replacing`, for text in UTF-8 with the line ends that it has."""
    with replacing(target) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        yield text
        text.detach()


def write_whole(target: Path, text: str) -> None:
    """Write ``text`` to ``target``, whole or not at all; raises as :func:`replacing`."""
    with replacing_text(target) as file:
        file.write(text)


def regular_file(target: Path) -> Path | None:
    """The file that ``target`` names, itself no link; None if that is, or would be, none.

    Descriptors (``/dev/stdout``) are none, whatever they lead to: others write there, too.

    Raises:
        OSError: links go round, a folder cannot be looked into.
    """
    place = os.path.abspath(target)  # noqa: PTH100 - links are followed below
    for _ in range(_MAX_LINKS):
        folder, name = os.path.split(place)
        place = os.path.join(os.path.realpath(folder), name)
        if place.startswith("/proc/"):
            return None
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            return Path(place)
        if not stat.S_ISLNK(status.st_mode):
            return Path(place) if stat.S_ISREG(status.st_mode) else None
        place = os.path.join(os.path.realpath(folder), Path(place).readlink())
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


class _Named(io.FileIO):
    """A file whose errors name ``target``, and say what was kept."""

    def __init__(self, descriptor: int, target: Path, kept: str) -> None:
        super().__init__(descriptor, "wb")
        self._target = target
        self._kept = kept

    def write(self, data: Any, /) -> int:
        """As a file does."""
        return self.guarded(super().write, data) or 0

    def guarded(self, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``action`` returns; its errors are this file's."""
        try:
            return action(*args, **kwargs)
        except OSError as error:
            raise cannot_write(self._target, error, self._kept) from error


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _temporary_for(place: Path) -> tuple[Path, int]:
    """A new file beside ``place`` that looks like it, and its descriptor.

    Where the folder takes none, but ``place`` may be written to: in that for temporary files.
    """
    there = place.exists()
    if there and not os.access(place, os.W_OK):
        read_only = os.statvfs(place).f_flag & os.ST_RDONLY
        code = errno.EROFS if read_only else errno.EACCES
        raise OSError(code, os.strerror(code))
    try:
        made, descriptor = _locked_file(place.parent)
    except OSError as error:
        if not there or error.errno not in _NO_NEW_FILE:
            raise
        made, descriptor = _locked_file(Path(tempfile.gettempdir()))
    if there:
        with contextlib.suppress(OSError):
            status = place.stat()
            os.fchown(descriptor, status.st_uid, status.st_gid)
        with contextlib.suppress(OSError):
            shutil.copystat(place, made)
    return made, descriptor


def _locked_file(folder: Path) -> tuple[Path, int]:
    """A new file in ``folder``, locked so that nobody takes it for a dead program's."""
    _sweep(folder)
    while True:
        made = folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(made, flags, 0o666)  # less the umask
        with contextlib.suppress(OSError):  # no locks here, then nobody sweeps either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if made.exists():
            return made, descriptor
        os.close(descriptor)  # swept between the two calls


def _sweep(folder: Path) -> None:
    """Remove what programs of this user left that are no more: nobody holds the lock."""
    for left in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            status = left.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                continue
            with left.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()


def _put(made: Path, descriptor: int, place: Path) -> None:
    """Let the finished file ``made`` take the place of ``place``."""
    os.fsync(descriptor)
    try:
        made.rename(place)
    except OSError as error:
        if error.errno not in _NO_RENAME or not place.exists():
            raise
        _copy(descriptor, place)
        return
    with contextlib.suppress(OSError):  # some file systems have no folders to flush
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _copy(descriptor: int, place: Path) -> None:
    """Write over ``place`` what the file behind ``descriptor`` holds."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with place.open("r+b") as file, open(descriptor, "rb", closefd=False) as source:
        shutil.copyfileobj(source, file)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


class Unpadded(io.TextIOBase):
    """A text file that writes to ``stream`` without the spaces at the ends of lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        """As a file does; ``text`` ends where a line does, or is no table."""
        self._stream.write(_PADDING.sub("", text))
        return len(text)

    def flush(self) -> None:
        """As a file does."""
        self._stream.flush()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream."""
        return self._stream.encoding
