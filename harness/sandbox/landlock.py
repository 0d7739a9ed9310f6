"""Rules for the files that may be opened, where a sandbox cannot get a view of its own.

Where namespaces cannot be had (containers by default, some distributions), the kernel can still be
asked to refuse what is not on a list: landlock(7), Linux 5.13 or newer, no privilege needed. The
list is the one that a view would be made of (:mod:`harness.sandbox.view`). From newer kernels comes
more: nothing outside can be signalled, or reached by an abstract socket, and no TCP.

The names of other files can still be guessed and their size seen, the temporary folder is on disk
instead of in memory, and processes of the same user are listed: less than a view of one's own.
It holds for everything that is started from here on. Standard library alone.
"""

import ctypes
import os
import stat
from collections.abc import Iterator

from harness.sandbox import ROOT, system
from harness.sandbox.spec import SandboxSpec
from harness.sandbox.view import ETC, SYSTEM, outside

LAYER = "rules for files"

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE, _READ, _LIST = 1, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _CONTROL = 1 << 14, 1 << 15
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _CONTROL
_KNOWN_SINCE = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE, 5: _CONTROL}
"""By version of the kernel's interface, the kinds of access to files that it added."""
_ALSO_SINCE = {4: 0b11, 6: 0b11}
"""Likewise, in fields of their own: TCP; then abstract sockets and signals."""

_LOOK = _EXECUTE | _READ | _LIST
_USE = _READ | _WRITE | _CONTROL


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("fd", ctypes.c_int32)]


def version() -> int:
    """The version of this kernel's interface; 0 for none."""
    return max(0, int(system.libc.syscall(_CREATE_RULESET, None, 0, _VERSION)))


def restrict(spec: SandboxSpec) -> bool:
    """Allow this process the files of the spec alone, for good; False where the kernel cannot.

    The process must have given up gaining privileges.

    Raises:
        OSError: the kernel refuses what it says it can do.
    """
    known = version()
    if known == 0:
        return False
    handled = sum(bits for since, bits in _KNOWN_SINCE.items() if since <= known)
    asked = [handled, *(bits for since, bits in _ALSO_SINCE.items() if since <= known)]
    ruleset = (ctypes.c_uint64 * len(asked))(*asked)  # older kernels know the first fields alone
    rules = system.libc.syscall(_CREATE_RULESET, ruleset, ctypes.sizeof(ruleset), 0)
    system.checked(rules, "rules for files")
    try:
        for path, access in _allowed(spec):
            _allow(rules, path, access & handled)
        system.checked(system.libc.syscall(_RESTRICT_SELF, rules, 0), "rules for files")
    finally:
        os.close(rules)
    return True


def _allowed(spec: SandboxSpec) -> Iterator[tuple[str, int]]:
    for path in (*SYSTEM, *(f"/etc/{name}" for name in ETC), *spec.readable, "/proc"):
        yield path, _LOOK
    yield str(ROOT), _LIST  # Python lists the folders that it imports from
    for path in outside(spec):
        yield path, _LOOK if path == "/sys" else _USE
    # The CUDA driver names its threads there; those of other processes are not meant.
    yield "/proc/self", _LOOK | _WRITE
    for path in (spec.folder, *spec.writable):
        yield path, ~0


def _allow(rules: int, path: str, access: int) -> None:
    """Add one rule; a path that is missing, or hidden from us, is left out."""
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            access &= _OF_A_FILE
        rule = _Beneath(access, fd)
        done = system.libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
        system.checked(done, f"allowing {path}")
    finally:
        os.close(fd)
