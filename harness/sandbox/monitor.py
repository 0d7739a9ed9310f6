"""A sandbox's outermost process: makes the namespaces and waits for the first process in them.

It stays outside, where nothing that is submitted can reach it, and leaves with the status of the
sandbox. Started by the judge as a fresh interpreter (:func:`main`), or forked from the template
(:mod:`harness.sandbox.zygote_main`). Standard library alone.
"""

import json
import os
import signal
import socket
import sys

from harness.sandbox import init, namespaces, system
from harness.sandbox.spec import SandboxSpec, from_json


def main() -> None:
    """``plan channel life`` from the command line; the channel is ``-`` if a command is to run."""
    plan, channel, life = from_json(json.loads(sys.argv[1])), sys.argv[2], int(sys.argv[3])
    connected = None if channel == "-" else socket.socket(fileno=int(channel))
    os._exit(run_and_wait(plan, connected, life))


def run_and_wait(
    plan: SandboxSpec, channel: socket.socket | None, life: int, private: tuple[int, ...] = ()
) -> int:
    """Make one sandbox and wait for its end; its exit status, 128 + n for signal n.

    ``private`` are descriptors that stay with the keeper.
    """
    try:
        if plan.namespaces:
            namespaces.enter(own_user=plan.own_user)
        first = os.fork()
    except OSError as error:
        print(f"no sandbox: {error}", flush=True)  # noqa: T201 - for the judge, which reads it
        return init.NO_SANDBOX
    if first == 0:
        for fd in private:
            os.close(fd)
        _become_first(plan, channel, life)
    if channel is not None:
        channel.close()
    os.close(life)
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    return code if code >= 0 else 128 - code


def _become_first(plan: SandboxSpec, channel: socket.socket | None, life: int) -> None:
    try:
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL, "ending with the keeper")
        # New privileges without an exec make a process hide its /proc from itself, and the CUDA
        # driver, which writes there, then fails with error 304.
        system.prctl(system.PR_SET_DUMPABLE, 1, "dumpable")
        init.confine(plan, channel, life)
    except OSError as error:
        print(f"no sandbox: {error}", flush=True)  # noqa: T201
    finally:
        os._exit(init.NO_SANDBOX)
