"""Keeps a processor from being halted while times are taken.

A processor that has nothing to do is halted, and whoever has work for it waits until it runs again.
On a virtual machine it is the host that wakes it, and that takes a time that scatters by tens of
µs. So a process computes there meanwhile. Its policy is ``SCHED_IDLE`` (sched(7)): whoever else
wants the processor has it at once. Whoever has had it for a second and more must give up a tick of
4 ms in turn; so the process gives the processor back whenever it has it.
docs/explanation/measurement.md has what it brings.
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SPIN = """
import os, select, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
asked = select.poll()
asked.register(0, select.POLLIN)
while os.read(0, 1):
    while not asked.poll(0):
        for _ in range(100):
            os.sched_yield()
    if not os.read(0, 1):
        break
"""
"""Computes from one byte of its input to the next, and ends with the input: with the judge."""


class KeptAwake:
    """Keeps one processor awake when asked to; nothing happens where the system forbids it."""

    def __init__(self, cpu: int) -> None:
        self._cpu = cpu
        self._process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Keep it awake in this block."""
        if self._process is None:
            self._process = _started(self._cpu)
        self._toggle()
        try:
            yield
        finally:
            self._toggle()

    def _toggle(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has ended
                self._process.stdin.write(b".")

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _started(cpu: int) -> subprocess.Popen[bytes] | None:
    with contextlib.suppress(OSError):
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _SPIN, str(cpu)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the judge
        )
    return None
