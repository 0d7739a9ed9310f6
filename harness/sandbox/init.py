"""A sandbox's init: process 1, which confines itself, forks what is to run, and ends with it.

Forked by the monitor (:mod:`harness.sandbox.monitor`) as process 1 of fresh user, mount, pid,
network and ipc namespaces (or, where those cannot be had, as an ordinary process). It runs before
any submitted code and needs the standard library alone:

1. the file system becomes a view of what is needed (:mod:`harness.sandbox.view`);
2. resource limits;
3. fork: the child becomes another user where there is one, loses its capabilities for good, has
   itself refused all files but those of the spec where it has no view of its own
   (:mod:`harness.sandbox.landlock`), puts a filter on its system calls and calls the spec's entry,
   or becomes its command;
4. the parent waits. When the judge's end of the *life* pipe closes, it ends, and the kernel ends
   every process of the namespace with it.
"""

import contextlib
import importlib
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from harness.sandbox import landlock, python_command, syscalls, system, view
from harness.sandbox.spec import SandboxSpec

NO_SANDBOX = 113
"""Exit status of a sandbox that could not be made; what it lacks is printed."""
_NOT_FOUND = 127
"""Exit status for a command that cannot be started, as a shell has it."""

_NAMESPACES = "user, mount, pid, network and ipc namespaces"
_LAYERS_BYTES = 256
"""Room for the names of the layers that the child puts on itself."""

_CALL_ENTRY = python_command(
    "import socket; from harness.sandbox.init import call_entry; "
    "call_entry(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), sys.argv[3])"
)


def report_failure(error: OSError) -> int:
    """Print why there is no sandbox, for the judge to read; returns :data:`NO_SANDBOX`."""
    print(f"no sandbox: {error}", flush=True)  # noqa: T201
    return NO_SANDBOX


def resolve(name: str) -> Callable[..., object]:
    """The function that ``module:function`` names."""
    module, _, function = name.partition(":")
    found: Callable[..., object] = getattr(importlib.import_module(module), function)
    return found


def call_entry(entry: str, channel: socket.socket, folder: str) -> None:
    """Call the function named ``entry`` with the channel to the judge and the private folder."""
    resolve(entry)(channel, Path(folder))


def drop_privileges(spec: SandboxSpec) -> None:
    """Become the submission's user, with no capability, now and over exec, and none to be had."""
    system.drop_capability_bounds()
    if spec.own_user:
        os.setgroups([])
        os.setresgid(*[view.SUBMISSION_USER] * 3)
        os.setresuid(*[view.SUBMISSION_USER] * 3)
    system.drop_capabilities()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1, "no new privileges")
    system.prctl(system.PR_SET_DUMPABLE, 1, "dumpable")  # why: see the monitor


def limit_resources(spec: SandboxSpec) -> None:
    """Set the limits of this process and all its children; never raises one."""

    def lower(limit: int, value: int) -> None:
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))

    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, spec.file_bytes)
    lower(resource.RLIMIT_NOFILE, spec.open_files)
    lower(resource.RLIMIT_NPROC, spec.processes)
    if spec.memory_bytes:
        lower(resource.RLIMIT_DATA, spec.memory_bytes)


def wait_as_init(child: int, life: int) -> int:
    """Wait until the child or the judge ends, and reap orphans; the exit status to leave with."""
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
        if not pid:
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


def confine(spec: SandboxSpec, channel: socket.socket | None, life: int) -> NoReturn:
    """Confine this process, fork what is to run, wait for either end, and leave with its status.

    With a ``channel`` the entry runs, in the ``wrapper`` if there is one, and the judge is sent the
    layers that confine it; without one the command.
    """
    layers = [_NAMESPACES, *view.enter(spec)] if spec.namespaces else []
    if spec.own_user:
        layers.append("own user")
    # Orphans stay below us, where they are found, also without a namespace.
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1, "subreaper")
    limit_resources(spec)
    layers_read, layers_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(layers_read)
        _become(spec, channel, life, layers_write)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    os.close(layers_write)
    if _judge_ends(life, layers_read):  # it may have stopped the child before that could write
        _end(child)
        os._exit(0)
    own_layers = os.read(layers_read, _LAYERS_BYTES).decode().splitlines()
    os.close(layers_read)
    if channel is not None:
        from harness.wire import messages, transport  # slow to import, and a command needs neither

        layers += ["resource limits", *own_layers]
        confined = messages.Confined(version=messages.VERSION, layers=tuple(layers))
        transport.send(channel, confined)
        channel.close()
    os._exit(wait_as_init(child, life))


def _become(
    spec: SandboxSpec, channel: socket.socket | None, life: int, layers_write: int
) -> NoReturn:
    """Give up all privileges, report the layers, and run the entry or the command."""
    try:
        os.close(life)
        os.setpgid(0, 0)
        drop_privileges(spec)
        os.chdir(spec.cwd or spec.folder)
        layers = [] if spec.namespaces or not landlock.restrict(spec) else [landlock.LAYER]
        if syscalls.deny_system_calls(tracing=bool(spec.wrapper)):
            layers.append(syscalls.LAYER)
        os.write(layers_write, "\n".join(layers).encode())
        os.close(layers_write)
    except OSError as error:
        os._exit(report_failure(error))
    if channel is None:
        _execute(spec.command)
    if spec.wrapper:
        os.set_inheritable(channel.fileno(), True)
        arguments = (spec.entry, str(channel.fileno()), spec.folder)
        _execute((*spec.wrapper, *_CALL_ENTRY, *arguments))
    status = 0
    try:
        call_entry(spec.entry, channel, spec.folder)
    except Exception:
        sys.excepthook(*sys.exc_info())  # its traceback, as if it were a program of its own
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _execute(command: tuple[str, ...]) -> NoReturn:
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell on purpose
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", flush=True)  # noqa: T201 - as a shell says it
    os._exit(_NOT_FOUND)
