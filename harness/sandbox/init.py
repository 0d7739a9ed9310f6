"""First process of a runner's sandbox: confines itself, forks the runner, and outlives nothing.

Started by :mod:`harness.sandbox.launch` as process 1 of fresh user, mount, pid, network and ipc
namespaces (or, where those cannot be had, as an ordinary process in its own session). It runs
before any submitted code and needs the standard library alone:

1. the whole file system becomes read-only, recursively, but for a size-limited private tmpfs;
2. resource limits;
3. fork: the child loses its capabilities for good and becomes the runner;
4. the parent waits. When the judge's end of the *life* pipe closes, it ends, and the kernel ends
   every process of the namespace with it.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from harness.runner import wire

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_SETATTR = 442
_ATTR_RDONLY = 0x1
_MS_NOSUID, _MS_NODEV = 2, 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION_3 = 0x20080522
_PROCESSES = 1024
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - covered with an empty file system, not used

_ROOT = Path(__file__).resolve().parents[2]
_RUNNER = (
    f"import socket, sys; sys.path[:0] = [{str(_ROOT)!r}]; from pathlib import Path; "
    "from harness.runner.main import main; "
    "main(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))"
)

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def checked(result: int, what: str) -> None:
    """Raise the ``OSError`` that a system call left, if ``result`` says that it failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def _set_read_only(path: str, *, recursive: bool, read_only: bool) -> None:
    """mount_setattr(2), Linux 5.12."""
    value = _MountAttributes(_ATTR_RDONLY, 0) if read_only else _MountAttributes(0, _ATTR_RDONLY)
    flags = _AT_RECURSIVE if recursive else 0
    checked(
        _libc.syscall(
            _MOUNT_SETATTR,
            _AT_FDCWD,
            path.encode(),
            flags,
            ctypes.byref(value),
            ctypes.sizeof(value),
        ),
        f"read-only {path}",
    )


def _mount_tmpfs(path: str, size: int) -> None:
    options = f"size={size},mode=700".encode()
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV)
    checked(_libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options), f"tmpfs on {path}")


def confine_files(folder: Path, tmp_bytes: int) -> list[str]:
    """Make everything read-only but ``folder`` (a fresh tmpfs); returns what was achieved.

    ``/proc`` stays writable: the CUDA driver names its threads there, and the namespace's own
    ``/proc`` shows nothing but this sandbox.
    """
    layers = []
    _set_read_only("/", recursive=True, read_only=True)
    _set_read_only("/proc", recursive=False, read_only=False)
    layers.append("read-only files")
    _mount_tmpfs(str(folder), tmp_bytes)
    if Path(_SHARED_MEMORY).is_dir():
        _mount_tmpfs(_SHARED_MEMORY, tmp_bytes)
    layers.append("private tmpfs")
    with contextlib.suppress(OSError):  # Linux 6.14: a limit per pid namespace
        Path("/proc/sys/kernel/pid_max").write_text(str(_PROCESSES))
        layers.append("process limit")
    with contextlib.suppress(OSError):  # in one of its own it would have every capability again
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
        layers.append("no further namespaces")
    return layers


def drop_privileges() -> None:
    """Give up every capability, now and over exec, and forbid regaining any."""
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()
    checked(_libc.capset(header, data), "dropping capabilities")
    checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def limit_resources(memory_bytes: int, file_bytes: int) -> None:
    """Limits that hold for the runner and all its children; 0 means no limit on memory."""

    def lower(what: int, value: int) -> None:
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))

    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, file_bytes)
    lower(resource.RLIMIT_NOFILE, 1024)
    lower(resource.RLIMIT_NPROC, _PROCESSES * 4)
    if memory_bytes:
        lower(resource.RLIMIT_DATA, memory_bytes)


def supervise(child: int, life: int) -> int:
    """Wait for the runner or the judge, whichever ends first; the exit status to leave with.

    As process 1 it also reaps whatever the runner's children leave behind.
    """
    waker_read, waker_write = os.pipe()
    os.set_blocking(waker_write, False)
    signal.set_wakeup_fd(waker_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 1
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if pid:
            continue
        ready, _, _ = select.select([life, waker_read], [], [])
        if life in ready:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            return 0
        os.read(waker_read, 4096)


def main() -> None:
    """``channel life folder namespaces tmp_bytes memory_bytes wrapper…`` as the command says."""
    channel, life, folder, namespaces, tmp_bytes, memory_bytes = sys.argv[1:7]
    confine(
        socket.socket(fileno=int(channel)),
        int(life),
        Path(folder),
        namespaces=namespaces == "yes",
        tmp_bytes=int(tmp_bytes),
        memory_bytes=int(memory_bytes),
        wrapper=sys.argv[7:],
    )


def confine(
    channel: socket.socket,
    life: int,
    folder: Path,
    *,
    namespaces: bool,
    tmp_bytes: int,
    memory_bytes: int,
    wrapper: Sequence[str] = (),
) -> NoReturn:
    """Confine this process, fork the runner, wait for either end, and leave with its status.

    With a ``wrapper`` the runner is a fresh interpreter that this command starts, and just as
    confined as the command itself.
    """
    layers = []
    if namespaces:
        layers = ["user, mount, pid, network and ipc namespaces"]
        layers += confine_files(folder, tmp_bytes)
    # Orphans stay below us, where they are found, also without a namespace.
    checked(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")
    limit_resources(memory_bytes, tmp_bytes)
    layers.append("resource limits")
    os.chdir(folder)
    wire.send(channel, {"type": "confined", "layers": layers})
    child = os.fork()
    if child == 0:
        os.close(life)
        os.setpgid(0, 0)
        drop_privileges()
        if wrapper:
            os.set_inheritable(channel.fileno(), True)
            runner = [sys.executable, "-I", "-S", "-u", "-c", _RUNNER]
            command = [*wrapper, *runner, str(channel.fileno()), str(folder)]
            os.execv(wrapper[0], command)  # noqa: S606 - no shell on purpose
        from harness.runner.main import main as run

        run(channel, folder)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    channel.close()
    os._exit(supervise(child, life))
