"""The template: a process that has imported what Python submissions need, and forks sandboxes.

Importing torch and Triton takes about three seconds, a fork some milliseconds. The template is
ours alone: it never runs submitted code, holds no secret, and ends with the judge. It has one
thread, so that what it forks is sound.

Every request is one message on its channel with four descriptors (the runner's channel, the
reading end of the *life* pipe, where to print, and a pipe for the status). The template forks a
*keeper* (:mod:`harness.sandbox.monitor`), which tells its own process id and, when the sandbox has
ended, the exit status. Neither the pipe nor the keeper can be reached from inside.
"""

import contextlib
import os
import select
import signal
import socket
import sys

from harness.sandbox.monitor import run_and_wait
from harness.sandbox.spec import from_json
from harness.wire import transport
from harness.wire.messages import Fork
from harness.wire.validation import WireError


def main() -> None:
    """``channel interpret path…`` from the command line; serves until the judge is gone."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the keepers
    sys.path[:] = sys.argv[3:]
    interpret = sys.argv[2] == "yes"
    _preload(interpret=interpret)
    known = interpret
    while True:
        if not known and not select.select([channel], [], [], 0)[0]:
            _know_triton()
            known = True
        try:
            message, descriptors = transport.receive(channel)
        except WireError:
            return
        if isinstance(message, Fork) and os.fork() == 0:
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
            from harness.runner.triton import cpu as triton_cpu

            triton_cpu.enable(os.environ)
        else:
            import triton.language  # noqa: F401


def _know_triton() -> None:
    """Have Triton hash itself, which its cache asks of every process that launches a kernel.

    That takes a second, so it is done when nobody waits for a sandbox.
    """
    with contextlib.suppress(Exception):
        from triton.runtime.cache import triton_key

        triton_key()


def _keep(message: Fork, descriptors: list[int]) -> None:
    """Make one sandbox and report how it ended. Never returns."""
    channel, life, output, status = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.write(status, b"%d\n" % os.getpid())
    for target in (1, 2):
        os.dup2(output, target)
    os.close(output)
    os.environ.clear()
    os.environ.update(message.environment)
    spec = from_json(message.spec)
    code = run_and_wait(spec, socket.socket(fileno=channel), life, (status,))
    os.write(status, b"%d\n" % code)
    os._exit(0)
