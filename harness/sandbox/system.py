"""Thin wrappers of the system calls that confinement uses; Linux 5.12 or newer.

Standard library alone: this runs before anything else does in a sandbox.
"""

import ctypes
import os
from pathlib import Path

_NAMESPACES = 0x00020000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x08000000
"""unshare(2)'s flags for mount, user, pid, network and ipc."""

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE, _MNT_DETACH = 0x1000, 0x4000, 1 << 18, 2
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = 442, -100, 0x8000, 0x1

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
_LAST_CAPABILITY, _CAPABILITY_VERSION_3 = 63, 0x20080522

libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def checked(result: int, action: str) -> None:
    """Raise the ``OSError`` that a system call left, if ``result`` says that it failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{action}: {os.strerror(code)}")


def prctl(option: int, value: int, action: str) -> None:
    """Set an attribute of this process that takes one argument."""
    checked(libc.prctl(option, value, 0, 0, 0), action)


def enter_new_namespaces() -> None:
    """Leave the parent's user, mount, pid, network and ipc namespaces."""
    checked(libc.unshare(_NAMESPACES), "unshare")


def mount(kind: str, place: str | Path, flags: int, options: str = "") -> None:
    """Mount a fresh file system of this kind."""
    _mount(kind, place, kind, flags, f"{kind} on {place}", options)


def bind(source: str, place: str | Path) -> None:
    """Show ``source``, with what is mounted below it, at ``place`` too."""
    _mount(source, place, "", _MS_BIND | _MS_REC, f"showing {source}")


def keep_mounts_private() -> None:
    """Hide what is mounted from here on from other mount namespaces."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE, "private mounts")


def _mount(
    source: str, place: str | Path, kind: str, flags: int, action: str, options: str = ""
) -> None:
    names = map(os.fsencode, (source, place, kind))
    checked(libc.mount(*names, ctypes.c_ulong(flags), options.encode()), action)


def set_read_only(place: str, *, recursive: bool, read_only: bool) -> None:
    """mount_setattr(2)."""
    value = _MountAttributes(_ATTR_RDONLY, 0) if read_only else _MountAttributes(0, _ATTR_RDONLY)
    where = (_AT_FDCWD, os.fsencode(place), _AT_RECURSIVE if recursive else 0)
    done = libc.syscall(_MOUNT_SETATTR, *where, ctypes.byref(value), ctypes.sizeof(value))
    checked(done, f"read-only {place}")


def change_root(place: str) -> None:
    """Make ``place``, a mount point, the root, and let go of the old one: pivot_root(2)."""
    os.chdir(place)
    checked(libc.pivot_root(b".", b"."), "pivot_root")
    checked(libc.umount2(b".", _MNT_DETACH), "leaving the old root")
    os.chdir("/")


def drop_capability_bounds() -> None:
    """Let nothing that is started from here on have a capability."""
    for capability in range(_LAST_CAPABILITY + 1):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability that is held."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()
    checked(libc.capset(header, data), "dropping capabilities")
