"""The monitor: a sandbox's outermost process, which makes the namespaces and waits for their end.

It stays outside, where nothing submitted can reach it, and exits with the sandbox's status. The
judge starts it as a fresh interpreter (:func:`main`), or the zygote forks it
(:mod:`harness.sandbox.zygote_main`). Standard library alone.

In the namespaces there is no network and no sight of other processes. When the first process of the
pid namespace ends, the kernel ends all others.
"""

import contextlib
import os
import resource
import select
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

from harness.sandbox import init, system
from harness.sandbox.spec import SandboxSpec, from_json
from harness.sandbox.view import SUBMISSION_USER

SPARE_USER = 64990
"""The user id outside that submissions run as if the judge is root: nobody else has it."""


def main() -> None:
    """Run ``spec channel life`` of the command line; ``-`` as channel runs the spec's command.

    To a fourth descriptor goes the greatest resident memory of a process inside, in bytes.
    """
    spec, channel, life, *peak = from_json(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
    connected = None if channel == "-" else socket.socket(fileno=int(channel))
    code = run_and_wait(spec, connected, life, tuple(peak))
    for fd in peak:
        # Not of this process, whose own peak is that of the judge from which it was forked.
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        os.write(fd, b"%d" % largest)
    os._exit(code)


def run_and_wait(
    spec: SandboxSpec, channel: socket.socket | None, life: int, private: tuple[int, ...] = ()
) -> int:
    """Make one sandbox and wait for its end; its exit status, 128 + n for signal n.

    ``private`` are descriptors that stay with the monitor.
    """
    # The first that the kernel ends for want of memory. Before the namespaces are entered: what
    # the machine's root has raised, nobody inside can lower.
    with contextlib.suppress(OSError):
        _write("self", oom_score_adj="1000")
    if spec.cpus:
        with contextlib.suppress(OSError):  # maybe some are not allowed any more
            os.sched_setaffinity(0, spec.cpus)
    try:
        if spec.group:
            Path(spec.group).write_text("0", encoding="ascii")
        if spec.namespaces:
            _enter_namespaces(own_user=spec.own_user)
        alive, ours = os.pipe()
        first = os.fork()
    except OSError as error:
        return init.report_failure(error)
    if first == 0:
        for fd in (ours, *private):
            os.close(fd)
        _become_init(spec, channel, life, alive)
    os.close(alive)
    if channel is not None:
        channel.close()
    os.close(life)
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    return code if code >= 0 else 128 - code


def _become_init(
    spec: SandboxSpec, channel: socket.socket | None, life: int, alive: int
) -> NoReturn:
    """Be the init of the monitor that holds the other end of ``alive``."""
    try:
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL, "ending with the monitor")
        if select.select([alive], [], [], 0)[0]:  # it ended before there was a signal for it
            os._exit(0)
        os.close(alive)
        # New privileges without an exec make a process hide its /proc from itself, and the CUDA
        # driver, which writes there, then fails with error 304.
        system.prctl(system.PR_SET_DUMPABLE, 1, "dumpable")
        init.confine(spec, channel, life)
    except OSError as error:
        init.report_failure(error)
    finally:
        os._exit(init.NO_SANDBOX)


def _enter_namespaces(*, own_user: bool) -> None:
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
        system.enter_new_namespaces()
        _write(os.getpid(), setgroups="deny", uid_map=f"0 {user} 1", gid_map=f"0 {group} 1")
    system.keep_mounts_private()


def _enter_with_users(users: str) -> None:
    """Have a process that stays outside write the maps of users: inside it is not allowed."""
    ours = os.getpid()
    ready_read, ready = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(ready)
        with contextlib.suppress(OSError):
            if os.read(ready_read, 1):
                _write(ours, uid_map=users, gid_map=users)
                os._exit(0)
        os._exit(1)
    os.close(ready_read)
    try:
        system.enter_new_namespaces()
        os.write(ready, b"1")
    finally:
        os.close(ready)
        status = os.waitpid(helper, 0)[1]
    if status != 0:
        raise PermissionError("the users of a namespace cannot be set")


def _write(pid: int | str, **texts: str) -> None:
    """Write the files of a process in /proc, in order."""
    for name, text in texts.items():
        Path(f"/proc/{pid}/{name}").write_text(text, encoding="ascii")
