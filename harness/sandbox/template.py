"""The template: a process that has imported what Python submissions need, and forks sandboxes.

Importing torch and Triton takes about three seconds, a fork some milliseconds. The template is
ours alone: it never runs submitted code, holds no secret, and ends with the judge. It has one
thread, so that what it forks is sound.

Every request is one message on its channel with four descriptors (the runner's channel, the
reading end of the *life* pipe, where to print, and a pipe for the status). The template forks a
*keeper*, which makes the namespaces, forks the sandbox's first process
(:func:`harness.sandbox.init.confine`), tells its own process id and, when that ends, the exit
status. Neither the pipe nor the keeper can be reached from inside.
"""

import contextlib
import ctypes
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from harness.runner import wire
from harness.sandbox import init

_CLONE_NEWNS = 0x00020000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_ALL = _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_REC_PRIVATE = 0x4000 | (1 << 18)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """``channel interpret path…`` from the command line; serves until the judge is gone."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the keepers
    sys.path[:] = sys.argv[3:]
    _preload(interpret=sys.argv[2] == "yes")
    while True:
        try:
            message, descriptors = wire.receive(channel)
        except wire.WireError:
            return
        if os.fork() == 0:
            channel.close()
            _keep(message, descriptors)
        for fd in descriptors:
            os.close(fd)


def _preload(*, interpret: bool) -> None:
    """Import what runners will; what cannot be imported here is the runner's to complain about."""
    with contextlib.suppress(Exception):
        import torch  # noqa: F401

        from harness.runner import python  # noqa: F401

        if interpret:
            from harness.runner import triton_cpu

            triton_cpu.enable(os.environ)
        else:
            import triton.language  # noqa: F401


def _keep(message: wire.Message, descriptors: list[int]) -> None:
    """Make one sandbox and report how it ended. Never returns."""
    channel, life, output, status = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.write(status, b"%d\n" % os.getpid())
    for target in (1, 2):
        os.dup2(output, target)
    os.close(output)
    os.environ.clear()
    os.environ.update(message["environment"])
    namespaces = bool(message["namespaces"])
    if namespaces:
        _unshare()
    first = os.fork()
    if first == 0:
        os.close(status)
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if namespaces:
            # New privileges without an exec make a process hide its /proc from itself, and the CUDA
            # driver, which writes there, then fails with error 304.
            init.checked(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable")
            _mount_proc()
        _become_first(message, channel, life)
    os.close(channel)
    os.close(life)
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    os.write(status, b"%d\n" % (code if code >= 0 else 128 - code))
    os._exit(0)


def _become_first(message: wire.Message, channel: int, life: int) -> None:
    """Go on as a sandbox that was started the long way does."""
    settings: dict[str, Any] = message["settings"]
    try:
        init.confine(
            socket.socket(fileno=channel),
            life,
            Path(settings["folder"]),
            namespaces=bool(message["namespaces"]),
            tmp_bytes=int(settings["tmp_bytes"]),
            memory_bytes=int(settings["memory_bytes"]),
        )
    finally:
        os._exit(1)


def _unshare() -> None:
    """Fresh namespaces for what is forked from here on, in which we are root: as ``unshare`` does.

    Raises:
        OSError: they are not allowed.
    """
    user, group = os.getuid(), os.getgid()
    init.checked(_libc.unshare(_ALL), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    init.checked(
        _libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC_PRIVATE), None), "private mounts"
    )


def _mount_proc() -> None:
    """A ``/proc`` that shows the new pid namespace alone."""
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    init.checked(_libc.mount(b"proc", b"/proc", b"proc", flags, None), "mounting /proc")
