"""Thin wrappers of the system calls that confinement uses; Linux 5.12 or newer.

Standard library alone: this runs before anything else does in a sandbox.
"""

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_NEWIPC = 0x08000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC = 0x1000, 0x4000
MS_PRIVATE = 1 << 18

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_ATTR_RDONLY = 0x1
_MNT_DETACH = 2
_MOUNT_SETATTR = 442
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION_3 = 0x20080522

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


def unshare(flags: int) -> None:
    """Leave some of the parent's namespaces."""
    checked(libc.unshare(flags), "unshare")


def mount(kind: str, place: str, flags: int, options: str = "") -> None:
    """Mount a fresh file system of this kind."""
    name = kind.encode()
    flags_ = ctypes.c_ulong(flags)
    done = libc.mount(name, place.encode(), name, flags_, options.encode())
    checked(done, f"{kind} on {place}")


def bind(source: str, place: str) -> None:
    """Show ``source``, with what is mounted below it, at ``place`` too."""
    flags = ctypes.c_ulong(MS_BIND | MS_REC)
    done = libc.mount(os.fsencode(source), os.fsencode(place), None, flags, None)
    checked(done, f"showing {source}")


def keep_mounts_private() -> None:
    """Hide what is mounted from here on from other mount namespaces."""
    flags = ctypes.c_ulong(MS_REC | MS_PRIVATE)
    checked(libc.mount(b"none", b"/", None, flags, None), "private mounts")


def set_read_only(place: str, *, recursive: bool, read_only: bool) -> None:
    """mount_setattr(2)."""
    value = _MountAttributes(_ATTR_RDONLY, 0) if read_only else _MountAttributes(0, _ATTR_RDONLY)
    done = libc.syscall(
        _MOUNT_SETATTR,
        _AT_FDCWD,
        os.fsencode(place),
        _AT_RECURSIVE if recursive else 0,
        ctypes.byref(value),
        ctypes.sizeof(value),
    )
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
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability that is held."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()
    checked(libc.capset(header, data), "dropping capabilities")
