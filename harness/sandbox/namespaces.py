"""Fresh user, mount, pid, network and ipc namespaces: no network, no sight of other processes.

When the first process of the pid namespace ends, the kernel ends all others.
"""

import contextlib
import os
from pathlib import Path

from harness.sandbox import system
from harness.sandbox.view import SUBMISSION_USER

LAYER = "user, mount, pid, network and ipc namespaces"

SPARE_USER = 64990
"""The user id outside that submissions run as if the judge is root: nobody else has it."""

_ALL = (
    system.CLONE_NEWUSER
    | system.CLONE_NEWNS
    | system.CLONE_NEWPID
    | system.CLONE_NEWNET
    | system.CLONE_NEWIPC
)


def enter(*, own_user: bool) -> None:
    """Move this process to new namespaces, as their root; its forks are in the new pid namespace.

    With ``own_user`` they have a second user (:data:`~harness.sandbox.view.SUBMISSION_USER`), which
    only the machine's root can give them.

    Raises:
        OSError: they are not allowed.
    """
    if own_user:
        _enter_with_users(f"0 0 1\n{SUBMISSION_USER} {SPARE_USER} 1")
    else:
        user, group = os.getuid(), os.getgid()
        system.unshare(_ALL)
        _write(os.getpid(), "setgroups", "deny")
        _write(os.getpid(), "uid_map", f"0 {user} 1")
        _write(os.getpid(), "gid_map", f"0 {group} 1")
    system.keep_mounts_private()


def _enter_with_users(users: str) -> None:
    """Have a process that stays outside write the maps of users: inside it is not allowed."""
    ours = os.getpid()
    ready_read, ready = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(ready)
        status = 1
        with contextlib.suppress(OSError):
            if os.read(ready_read, 1):
                _write(ours, "uid_map", users)
                _write(ours, "gid_map", users)
                status = 0
        os._exit(status)
    os.close(ready_read)
    try:
        system.unshare(_ALL)
        os.write(ready, b"1")
    finally:
        os.close(ready)
        status = os.waitpid(helper, 0)[1]
    if status != 0:
        raise PermissionError("the users of a namespace cannot be set")


def _write(pid: int, name: str, text: str) -> None:
    Path(f"/proc/{pid}/{name}").write_text(text, encoding="ascii")
