"""The zygote's own process: imports what Python submissions need, once, and forks sandboxes.

Importing torch and Triton takes about three seconds, a fork some milliseconds. The zygote never
runs submitted code, holds no secret, and ends with the judge. It has one thread, so that what it
forks is sound.

Every request is one message on its channel with four descriptors: the sandbox's channel, the
reading end of the *life* pipe, where to print, and a pipe for the status. The zygote forks a
monitor (:mod:`harness.sandbox.monitor`), which writes its own process id to that pipe and, when the
sandbox has ended, the exit status. Neither the pipe nor the monitor can be reached from inside.
"""

import os
import select
import signal
import socket
import sys

from harness.sandbox.init import resolve
from harness.sandbox.monitor import run_and_wait
from harness.sandbox.spec import from_json
from harness.wire import transport
from harness.wire.messages import Fork
from harness.wire.validation import WireError


def main() -> None:
    """Serve ``channel preload path…`` of the command line until the judge is gone.

    ``preload`` is ``module:function``: called at first, it imports what sandboxes will need, and
    returns what to do when nobody waits for a sandbox, or None.
    """
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the monitors
    sys.path[:] = sys.argv[3:]
    when_idle = resolve(sys.argv[2])()
    while True:
        if callable(when_idle) and not select.select([channel], [], [], 0)[0]:
            when_idle()
            when_idle = None
        try:
            message, descriptors = transport.receive(channel)
        except WireError:
            return
        if isinstance(message, Fork) and os.fork() == 0:
            channel.close()
            _become_monitor(message, descriptors)
        for fd in descriptors:
            os.close(fd)


def _become_monitor(message: Fork, descriptors: list[int]) -> None:
    """Make one sandbox and write how it ended. Never returns."""
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
