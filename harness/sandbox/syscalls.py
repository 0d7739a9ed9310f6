"""A filter against system calls that no kernel, compiler or interpreter of ours needs.

A classic BPF program (seccomp(2), *SECCOMP_MODE_FILTER*), put together by hand: libseccomp is not
on every machine, and all that is asked here is whether a number is in a list. Calls on the list
fail with EPERM; namespaces cannot be made by clone(2), and clone3(2), whose arguments a filter
cannot see, fails with ENOSYS, so that the C library falls back to clone. Sockets can be of the
Unix family alone. Send buffers stay as small as they are, though setsockopt(2) reports success, as
for sizes beyond the system's own limit, and pipes cannot be enlarged. It holds for everything that
is started from here on.

The list follows what container engines deny by default, with tracing, io_uring, user-space page
faults, performance counters and kernel keys, which have been ways into kernels. System V's and
POSIX's shared memory and queues, and pages handed to a pipe, are memory that no process shows.
"""

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from harness.sandbox import system

LAYER = "system call filter"

_PR_SET_SECCOMP, _FILTER = 22, 2

_LOAD, _EQUALS, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
# where struct seccomp_data has them
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 24, 32
_FIRST_X32 = 0x40000000
_ANY_NAMESPACE = 0x7E020000  # clone(2)'s flags for user, pid, net, ipc, uts, cgroup and mount


class _Machine(NamedTuple):
    """A processor: its number in audit records, and its column in the tables below."""

    audit: int
    column: int


_MACHINES = {"x86_64": _Machine(0xC000003E, 0), "aarch64": _Machine(0xC00000B7, 1)}

_Table = Mapping[str, tuple[int | None, int | None]]
"""By name: the number on x86-64 and on AArch64, where there is one."""

DENIED: _Table = {
    # tracing
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    # mounts and roots
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # namespaces
    "unshare": (272, 97), "setns": (308, 268),
    # the machine
    "reboot": (169, 142), "sethostname": (170, 161), "setdomainname": (171, 162),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116),
    "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None), "uselib": (134, None),
    # clocks
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    # the kernel's code
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "bpf": (321, 280),
    # ways into kernels
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219),
    # files by handle, watched files
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    # memory of other places
    "migrate_pages": (256, 238), "move_pages": (279, 239), "process_madvise": (440, 440),
    "memfd_secret": (447, 447),
    # memory of no process
    "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186), "semget": (64, 190),
    "mq_open": (240, 180), "vmsplice": (278, 75), "splice": (275, 76), "tee": (276, 77),
}  # fmt: skip
"""System calls that fail with EPERM."""

TRACING = frozenset({"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"})
"""The denied calls that debugging tools need."""

SPECIAL = {"clone": (56, 220), "clone3": (435, 435), "socket": (41, 198)}
BOUNDED = {"setsockopt": (54, 208), "fcntl": (72, 25)}
_F_SETPIPE_SZ, _SO_SNDBUF, _SO_SNDBUFFORCE = 1031, 7, 32
EXECUTE: _Table = {"execve": (59, 221), "execveat": (322, 281)}


def deny_system_calls(*, tracing: bool = False) -> bool:
    """Put the filter on this thread, for good; False where there is none for this processor.

    ``tracing`` allows what a tool needs that watches the submission.

    Raises:
        OSError: the kernel does not take it.
    """
    allowed = TRACING if tracing else ()
    return _install({name: DENIED[name] for name in DENIED if name not in allowed}, special=True)


def forbid_programs() -> bool:
    """Deny exec to this thread, for good, with the result of :func:`deny_system_calls`."""
    return _install(EXECUTE)


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction: struct sock_filter. Jumps count the instructions that are left out."""
    return struct.pack("=HBBI", code, then, otherwise, value)


def _head(machine: _Machine) -> Iterator[bytes]:
    """Allow this processor's own calls alone: others are numbered in another way."""
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUALS, machine.audit, 1, 0)
    yield _step(_RETURN, _KILL)
    yield _step(_LOAD, _NUMBER)
    if machine.column == 0:
        yield _step(_AT_LEAST, _FIRST_X32, 0, 1)
        yield _step(_RETURN, _FAIL | errno.ENOSYS)


def _denied(machine: _Machine, table: _Table) -> Iterator[bytes]:
    for numbers in table.values():
        if (number := numbers[machine.column]) is not None:
            yield _step(_EQUALS, number, 0, 1)
            yield _step(_RETURN, _FAIL | errno.EPERM)


def _special(machine: _Machine) -> Iterator[bytes]:
    clone, clone3, sockets = (SPECIAL[name][machine.column] for name in SPECIAL)
    yield _step(_EQUALS, clone3, 0, 1)
    yield _step(_RETURN, _FAIL | errno.ENOSYS)
    yield _step(_EQUALS, clone, 0, 4)
    yield _step(_LOAD, _FIRST_ARGUMENT)
    yield _step(_ANY_BIT, _ANY_NAMESPACE, 0, 1)
    yield _step(_RETURN, _FAIL | errno.EPERM)
    yield _step(_RETURN, _ALLOW)
    yield _step(_EQUALS, sockets, 0, 4)
    yield _step(_LOAD, _FIRST_ARGUMENT)
    yield _step(_EQUALS, socket.AF_UNIX, 0, 1)
    yield _step(_RETURN, _ALLOW)
    yield _step(_RETURN, _FAIL | errno.EAFNOSUPPORT)


def _bounded(machine: _Machine) -> Iterator[bytes]:
    setsockopt, fcntl = (BOUNDED[name][machine.column] for name in BOUNDED)
    yield _step(_EQUALS, setsockopt, 0, 7)
    yield _step(_LOAD, _SECOND_ARGUMENT)
    yield _step(_EQUALS, socket.SOL_SOCKET, 0, 4)
    yield _step(_LOAD, _THIRD_ARGUMENT)
    yield _step(_EQUALS, _SO_SNDBUF, 1, 0)
    yield _step(_EQUALS, _SO_SNDBUFFORCE, 0, 1)
    yield _step(_RETURN, _FAIL)  # "failed" with no error: done
    yield _step(_RETURN, _ALLOW)
    yield _step(_EQUALS, fcntl, 0, 4)
    yield _step(_LOAD, _SECOND_ARGUMENT)
    yield _step(_EQUALS, _F_SETPIPE_SZ, 0, 1)
    yield _step(_RETURN, _FAIL | errno.EPERM)
    yield _step(_RETURN, _ALLOW)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def _install(denied: _Table, *, special: bool = False) -> bool:
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    steps = [*_head(machine), *_denied(machine, denied)]
    if special:
        steps += [*_bounded(machine), *_special(machine)]
    steps.append(_step(_RETURN, _ALLOW))
    program = _Program(len(steps), b"".join(steps))
    done = system.libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)
    system.checked(done, "filtering system calls")
    return True
