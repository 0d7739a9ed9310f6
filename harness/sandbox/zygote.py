"""Sandboxes for Python submissions in milliseconds: forked from a template that has torch loaded.

See :mod:`harness.sandbox.zygote_main` for the other side. One template for each set of packages and
for each way of running Triton (interpreted or compiled), kept until the judge ends.
"""

import atexit
import contextlib
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import IO

from harness.errors import MachineError
from harness.sandbox import ROOT
from harness.sandbox.spec import SandboxSpec
from harness.wire import transport
from harness.wire.messages import Fork
from harness.wire.validation import WireError

_BOOT = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; from harness.sandbox.zygote_main import main; main()"
_START_SECONDS = 90.0
_TOLD = 2000


class Forked:
    """A sandbox's outermost process, which is no child of ours; as much of ``Popen`` as we need."""

    def __init__(self, pid: int, status: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdout = stdout
        self._status = status
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit status if it has ended; 137 where it was killed before it could tell."""
        if self._code is None and select.select([self._status], [], [], 0)[0]:
            text = self._status.readline()
            self._code = int(text) if text.strip() else 137
            self._status.close()
        return self._code

    def wait(self) -> int:
        """Wait for the end."""
        while (code := self.poll()) is None:
            select.select([self._status], [], [])
        return code


class Zygote:
    """One template process.

    Args:
        path: where the packages are found.
        interpret: whether Triton is to be interpreted.
        environment: the template's whole environment.
    """

    def __init__(self, path: tuple[str, ...], interpret: bool, environment: Mapping[str, str]):
        self._lock = threading.Lock()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the template runs
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        arguments = [str(theirs.fileno()), "yes" if interpret else "no", *path]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-u", "-c", _BOOT, *arguments],
            # More threads than one could not be forked.
            env={**environment, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()

    @property
    def pid(self) -> int:
        """The template's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return self._process.poll() is None

    def fork(
        self, environment: Mapping[str, str], plan: SandboxSpec, channel: int, life: int
    ) -> Forked:
        """Start one sandbox.

        Raises:
            MachineError: the template does not answer; with what it printed.
        """
        output_read, output = os.pipe()
        status_read, status = os.pipe()
        message = Fork(environment=dict(environment), spec=plan.to_json())
        stdout, told = os.fdopen(output_read, "rb"), os.fdopen(status_read, "rb", buffering=0)
        try:
            with self._lock:
                transport.send(self._channel, message, (channel, life, output, status))
        except WireError as error:
            raise self._broken() from error
        finally:
            os.close(output)
            os.close(status)
        if not select.select([told], [], [], _START_SECONDS)[0]:
            raise self._broken()
        pid = told.readline()
        if not pid.strip():
            raise self._broken()
        return Forked(int(pid), told, stdout)

    def close(self) -> None:
        """End the template; what it forked goes on."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _broken(self) -> MachineError:
        time.sleep(0.1)  # its last words may still be on their way
        text = b"it has ended"
        with contextlib.suppress(ValueError):  # another thread has found out, and closed it
            size = os.fstat(self._errors.fileno()).st_size
            text = os.pread(self._errors.fileno(), _TOLD, max(0, size - _TOLD))
        return MachineError(
            "the process that starts Python submissions does not answer: "
            + text.decode("utf-8", "replace")
        )


_lock = threading.Lock()
_zygotes: dict[tuple[tuple[str, ...], bool], Zygote] = {}


def zygote(path: list[str], *, interpret: bool, environment: Mapping[str, str]) -> Zygote:
    """The judge's nursery for these packages, started if it is not there; returns at once."""
    key = (tuple(path), interpret)
    with _lock:
        if key in _zygotes and not _zygotes[key].alive:
            _zygotes.pop(key).close()
        if key not in _zygotes:
            _zygotes[key] = Zygote(key[0], interpret, environment)
        return _zygotes[key]


@atexit.register
def _close_all() -> None:
    with _lock:
        while _zygotes:
            _zygotes.popitem()[1].close()


def zygote_processes() -> list[int]:
    """The processes that are kept for the next submission, as long as the judge runs."""
    with _lock:
        return [each.pid for each in _zygotes.values()]
