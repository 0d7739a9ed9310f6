"""First process of a sandbox: confines itself, forks what is to run, and outlives nothing.

Forked by the keeper (:mod:`harness.sandbox.monitor`) as process 1 of fresh user, mount, pid, network
and ipc namespaces (or, where those cannot be had, as an ordinary process). It runs before any
submitted code and needs the standard library alone:

1. the file system becomes a view of what is needed (:mod:`harness.sandbox.view`);
2. resource limits;
3. fork: the child becomes another user where there is one, loses its capabilities for good, has
   itself refused all files but those of the plan where it has no view of its own
   (:mod:`harness.sandbox.landlock`), puts a filter on its system calls and becomes the runner, or
   the command;
4. the parent waits. When the judge's end of the *life* pipe closes, it ends, and the kernel ends
   every process of the namespace with it.
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

from harness.sandbox import ROOT, landlock, namespaces, syscalls, system, view
from harness.sandbox.spec import SandboxSpec

NO_SANDBOX = 113
"""Exit status of a sandbox that could not be made; what it lacks is printed."""

_NOT_FOUND = 127

_RUNNER = (
    f"import socket, sys; sys.path[:0] = [{str(ROOT)!r}]; from pathlib import Path; "
    "from harness.runner.main import main; "
    "main(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))"
)


def drop_privileges(plan: SandboxSpec) -> None:
    """Become the submission's user, with no capability, now and over exec, and none to be had."""
    system.drop_capability_bounds()
    if plan.own_user:
        os.setgroups([])
        os.setresgid(*[view.SUBMISSION_USER] * 3)
        os.setresuid(*[view.SUBMISSION_USER] * 3)
    system.drop_capabilities()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1, "no new privileges")
    system.prctl(system.PR_SET_DUMPABLE, 1, "dumpable")  # see the keeper


def limit_resources(plan: SandboxSpec) -> None:
    """Limits that hold for what runs here and all its children."""

    def lower(what: int, value: int) -> None:
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))

    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, plan.file_bytes)
    lower(resource.RLIMIT_NOFILE, plan.open_files)
    lower(resource.RLIMIT_NPROC, plan.processes)
    if plan.memory_bytes:
        lower(resource.RLIMIT_DATA, plan.memory_bytes)


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
        if _judge_ends(life, waker_read):
            _end(child)
            return 0
        os.read(waker_read, 4096)


def _judge_ends(life: int, other: int) -> bool:
    """Wait until the judge has ended or ``other`` can be read; whether it is the former."""
    return life in select.select([life, other], [], [])[0]


def _end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def confine(plan: SandboxSpec, channel: socket.socket | None, life: int) -> NoReturn:
    """Confine this process, fork what is to run, wait for either end, and leave with its status.

    A runner is told to the judge on its ``channel``, with the layers that confine it. With a
    ``wrapper`` it is a fresh interpreter that this command starts, and just as confined as the
    command itself.
    """
    layers = [namespaces.LAYER, *view.enter(plan)] if plan.namespaces else []
    if plan.own_user:
        layers.append("own user")
    # Orphans stay below us, where they are found, also without a namespace.
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1, "subreaper")
    limit_resources(plan)
    told_read, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told_read)
        _become(plan, channel, life, told)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    os.close(told)
    if _judge_ends(life, told_read):  # it may have stopped the child before that could tell
        _end(child)
        os._exit(0)
    own_layers = os.read(told_read, 256).decode().splitlines()
    os.close(told_read)
    if channel is not None:
        from harness.wire import messages, transport  # slow to import, and a command needs neither

        layers += ["resource limits", *own_layers]
        confined = messages.Confined(version=messages.VERSION, layers=tuple(layers))
        transport.send(channel, confined)
        channel.close()
    os._exit(supervise(child, life))


def _become(plan: SandboxSpec, channel: socket.socket | None, life: int, told: int) -> NoReturn:
    """The runner, or the command, for good."""
    try:
        os.close(life)
        os.setpgid(0, 0)
        drop_privileges(plan)
        os.chdir(plan.cwd or plan.folder)
        layers = [] if plan.namespaces or not landlock.restrict(plan) else [landlock.LAYER]
        if syscalls.deny_system_calls(tracing=bool(plan.wrapper)):
            layers.append(syscalls.LAYER)
        os.write(told, "\n".join(layers).encode())
        os.close(told)
    except OSError as error:
        print(f"no sandbox: {error}", flush=True)  # noqa: T201 - for the judge, which reads it
        os._exit(NO_SANDBOX)
    if channel is None:
        _execute(plan.command)
    if plan.wrapper:
        os.set_inheritable(channel.fileno(), True)
        runner = [sys.executable, "-I", "-S", "-u", "-c", _RUNNER]
        _execute((*plan.wrapper, *runner, str(channel.fileno()), plan.folder))
    from harness.runner.main import main as run

    run(channel, Path(plan.folder))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _execute(command: tuple[str, ...]) -> NoReturn:
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell on purpose
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", flush=True)  # noqa: T201 - as a shell says it
    os._exit(_NOT_FOUND)
