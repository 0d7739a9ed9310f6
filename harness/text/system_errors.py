"""Words for what the system refused: which file, why, and what to do about it."""

import errno
import os
import re
import tempfile

from harness.errors import JudgeError, MachineError, UsageError
from harness.text.plain import plain

_REASONS = {
    errno.ENOSPC: ("no space left on its disk", "make room there, or name another place"),
    errno.EDQUOT: ("the quota of disk space is used up", "remove files, or name another place"),
    errno.EFBIG: (
        "a process may not write a file so large",
        "raise the limit: ulimit -f unlimited",
    ),
    errno.EMFILE: ("this process has too many open files", "raise the limit: ulimit -n 1024"),
    errno.ENFILE: ("the machine has too many open files", "end other programs, raise fs.file-max"),
    errno.EAGAIN: (
        "no further process or thread can be started",
        "end others of this user, or raise the limit (ulimit -u, a container's limit of pids)",
    ),
    errno.ENOMEM: (
        "there is no memory left",
        "end other programs, or raise the limit (ulimit -v, a container's limit of memory)",
    ),
    errno.EIO: ("the disk failed", "look into the system's log (dmesg)"),
}
"""Why the machine is to blame, and the remedy."""

_PLACES = {
    errno.EROFS: ("it is on a read-only file system", "name another place"),
    errno.EACCES: ("permission denied", "name another place, or let this user in"),
    errno.EPERM: ("not permitted", "name another place, or let this user in"),
    errno.ENAMETOOLONG: ("the name is too long", "name another one"),
}
"""As above, where somebody may have named the wrong place."""

_CARD_IS_FULL = re.compile(r"CUDA (error: )?out of memory")
"""What PyTorch says, of an allocation or of a whole context that found no room."""

_FULL = 1 << 20
"""Bytes; a file system with less room is named as the full one."""


def cannot_write(target: object, error: OSError, kept: str = "") -> JudgeError:
    """The error that tells why ``target``, which the user named, cannot be written.

    A :class:`MachineError` where the machine is to blame, else a :class:`UsageError`. ``kept`` says
    what has not been lost.
    """
    known = _REASONS.get(error.errno or 0) or _PLACES.get(error.errno or 0)
    reason, remedy = known or (error.strerror or str(error), "")
    told = "; ".join(filter(None, (reason, kept, remedy)))
    blamed = MachineError if error.errno in _REASONS else UsageError
    return blamed(f"cannot write {plain(str(target))}: {told}")


def as_os_error(error: OSError | ValueError) -> OSError:
    """``error`` of opening a file; a ``ValueError`` is about its name: NUL, a lone surrogate."""
    if isinstance(error, OSError):
        return error
    return OSError(errno.EINVAL, "no file has such a name")


def system_fault(error: BaseException) -> JudgeError | None:
    """As :func:`machine_fault`, also where a place may be wrong, such as one that is read-only."""
    if (fault := machine_fault(error)) is not None:
        return fault
    if not isinstance(error, OSError) or error.errno not in _PLACES:
        return None
    reason, remedy = _PLACES[error.errno]
    blamed = UsageError if error.errno == errno.ENAMETOOLONG else MachineError
    place = _place(error)
    return blamed(f"{place}: {reason}; {remedy}" if place else f"{reason}; {remedy}")


def machine_fault(error: BaseException) -> MachineError | None:
    """The error that tells what the machine is short of, and the remedy; None for anything else."""
    if isinstance(error, RuntimeError) and _CARD_IS_FULL.search(str(error)):
        return MachineError(
            "the GPU has no memory left: end the programs that hold it (nvidia-smi shows them), or "
            "take a card that has more"
        )
    code, place = _code(error), _place(error)
    if code == errno.ENOENT and "temporary directory" in str(error):
        return MachineError("no folder for temporary files can be written: name one with TMPDIR")
    if code not in _REASONS:
        return None
    if code == errno.ENOSPC and not place:
        place = _full_place()
    reason, remedy = _REASONS[code]
    return MachineError(f"{place}: {reason}; {remedy}" if place else f"{reason}; {remedy}")


def _place(error: BaseException) -> str:
    """The file that ``error`` is about, if it says so."""
    name = getattr(error, "filename", None)
    return plain(os.fsdecode(name), 200) if isinstance(name, str | bytes) else ""


def _code(error: BaseException) -> int:
    """The system's number of ``error``; 0 if it has none."""
    if isinstance(error, OSError):
        return error.errno or 0
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, RuntimeError):
        text = str(error)
        if "can't start new thread" in text:
            return errno.EAGAIN
        if "can't allocate memory" in text:  # PyTorch's, on the host
            return errno.ENOMEM
    if isinstance(error, ImportError) and os.strerror(errno.EMFILE) in str(error):
        return errno.EMFILE
    return 0


def _full_place() -> str:
    """The folder for temporary files or the current one, if its disk is full."""
    for place in (os.environ.get("TMPDIR", ""), tempfile.gettempdir(), os.curdir):
        if has_less(place, _FULL):
            return plain(os.path.realpath(place), 200)
    return ""


def has_less(place: str | os.PathLike[str], size: int) -> bool:
    """Whether the disk of a folder has less room than ``size`` bytes."""
    try:
        found = os.statvfs(place)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < size
