"""The folder of a site: it is replaced as a whole, and never anything but a site.

A new site is written beside the former one and takes its place when it is complete. Whatever ends
the program before that leaves the former one as it was; the unfinished folder is removed by the
next build.
"""

import contextlib
import ctypes
import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from harness.errors import UsageError
from harness.text.plain import plain
from harness.text.system_errors import cannot_write

MARKER = ".kernel-harness-site"
"""A file that says that this program made the folder, and may replace it."""

_MARKER_TEXT = b"Made by harness site, which replaces this folder as a whole.\n"
_HERE = -100  # AT_FDCWD of <fcntl.h>
_EXCHANGE = 2  # RENAME_EXCHANGE of <linux/fs.h>


@contextlib.contextmanager
def replaced(out: Path) -> Iterator[Path]:
    """An empty folder to write to, which becomes ``out`` if nothing was raised.

    Raises:
        UsageError: ``out`` is something else than a site, an empty folder, or nothing; or it cannot
            be written.
        MachineError: the machine failed, as when the disk is full; the old site is unchanged.
    """
    out = Path(os.path.abspath(out))  # noqa: PTH100 - links are not followed: they are replaced
    kept = "the old site is unchanged" if os.path.lexists(out) else ""
    try:
        require_ours(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_over(out)
        new = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".new", dir=out.parent))
    except OSError as error:
        raise cannot_write(out, error, kept) from error
    try:
        with _locked(new / MARKER, "wb") as marker:
            marker.write(_MARKER_TEXT)
            marker.flush()
            yield new
            new.chmod(0o777 & ~_umask())
            require_ours(out)
            _put(new, out)
    except OSError as error:
        raise cannot_write(out, error, kept) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def require_ours(out: Path) -> None:
    """Refuse to replace what this program did not make.

    Raises:
        UsageError: with the remedy.
    """
    if not os.path.lexists(out):
        return
    if out.is_symlink() or not out.is_dir():
        raise UsageError(f"--out {plain(str(out))}: is not a folder; name another place")
    if any(out.iterdir()) and not (out / MARKER).is_file():
        raise UsageError(
            f"--out {plain(str(out))}: holds something else than a site made by harness site; "
            "name an empty or a new folder"
        )


def _put(new: Path, out: Path) -> None:
    """``new`` and ``out`` change places, in one step where the file system can."""
    if not out.exists():
        new.rename(out)
        return
    if _exchanged(new, out):
        return
    old = new.with_suffix(".old")
    out.rename(old)
    try:
        new.rename(out)
    except OSError:
        old.rename(out)
        raise
    old.rename(new)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change names in one step (Linux's renameat2); whether that was possible."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    paths = [os.fsencode(path) for path in (one, other)]
    return bool(rename(_HERE, paths[0], _HERE, paths[1], _EXCHANGE) == 0)


def _remove_left_over(out: Path) -> None:
    """Unfinished folders of builds that are no more: nobody holds their lock."""
    for left in out.parent.glob(f".{glob.escape(out.name)}.*.new"):
        try:
            with _locked(left / MARKER, "rb"):
                shutil.rmtree(left, ignore_errors=True)
        except OSError:  # held, or no site of ours
            continue


@contextlib.contextmanager
def _locked(file: Path, mode: str) -> Iterator[IO[bytes]]:
    with open(file, mode) as marker:
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield marker


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
