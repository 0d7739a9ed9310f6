"""The monitor: a sandbox's outermost process, which makes the namespaces and waits for their end.

It stays outside, where nothing submitted can reach it, and exits with the sandbox's status. The
judge starts it as a fresh interpreter (:func:`main`), or the zygote forks it
(:mod:`harness.sandbox.zygote_main`). Standard library alone.
"""

import os
import signal
import socket
import sys

from harness.sandbox import init, namespaces, system
from harness.sandbox.spec import SandboxSpec, from_json


def main() -> None:
    """Run ``spec channel life`` of the command line; ``-`` as channel runs the spec's command."""
    spec, channel, life = from_json(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    connected = None if channel == "-" else socket.socket(fileno=int(channel))
    os._exit(run_and_wait(spec, connected, life))


def run_and_wait(
    spec: SandboxSpec, channel: socket.socket | None, life: int, private: tuple[int, ...] = ()
) -> int:
    """Make one sandbox and wait for its end; its exit status, 128 + n for signal n.

    ``private`` are descriptors that stay with the monitor.
    """
    try:
        if spec.namespaces:
            namespaces.enter(own_user=spec.own_user)
        first = os.fork()
    except OSError as error:
        return init.report_failure(error)
    if first == 0:
        for fd in private:
            os.close(fd)
        _become_init(spec, channel, life)
    if channel is not None:
        channel.close()
    os.close(life)
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    return code if code >= 0 else 128 - code


def _become_init(spec: SandboxSpec, channel: socket.socket | None, life: int) -> None:
    try:
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL, "ending with the monitor")
        # New privileges without an exec make a process hide its /proc from itself, and the CUDA
        # driver, which writes there, then fails with error 304.
        system.prctl(system.PR_SET_DUMPABLE, 1, "dumpable")
        init.confine(spec, channel, life)
    except OSError as error:
        init.report_failure(error)
    finally:
        os._exit(init.NO_SANDBOX)
