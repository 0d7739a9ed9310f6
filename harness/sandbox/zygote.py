"""Zygotes: processes with torch loaded, from which sandboxes are forked in milliseconds.

This is the judge's side; :mod:`harness.sandbox.zygote_main` runs in the process.
"""

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO

from harness.errors import MachineError
from harness.sandbox import python_command
from harness.sandbox.spec import SandboxSpec
from harness.wire import transport
from harness.wire.messages import Fork
from harness.wire.validation import WireError

_ZYGOTE = python_command("from harness.sandbox.zygote_main import main; main()")
_START_SECONDS = 90.0
"""The time that a zygote may take to import and fork, on a busy machine."""
_LAST_WORDS_S, _LAST_WORDS_BYTES = 1.0, 2000
"""The time that a dying zygote may take to end, and the size of its last words."""


class Forked:
    """A monitor that a zygote has forked, so no child of ours: as much of ``Popen`` as is used."""

    def __init__(self, pid: int, status: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdout = stdout
        self._status = status
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit status if it has ended; 137 where it was killed before it wrote one."""
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
    """One process that forks sandboxes, started again when it dies.

    Args:
        path: where the packages are found.
        preload: ``module:function`` that imports what sandboxes will need.
        environment: the process's whole environment.
    """

    def __init__(self, path: tuple[str, ...], preload: str, environment: Mapping[str, str]) -> None:
        self._lock = threading.Lock()
        self._start: Callable[[], _Process] = partial(_Process, path, preload, environment)
        self._process = self._start()
        self._given_up = False

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return self._process.alive

    def fork(
        self, environment: Mapping[str, str], spec: SandboxSpec, channel: int, life: int
    ) -> Forked:
        """Start one sandbox; once more with a fresh process if this one does not answer.

        Raises:
            MachineError: neither does; with how it ended and what it printed.
        """
        message = Fork(environment=dict(environment), spec=spec.to_json())
        tried = self._process
        try:
            return tried.fork(message, channel, life)
        except MachineError as first:
            if self._given_up:
                raise
            with self._lock:
                if self._process is tried:  # else another thread was quicker
                    tried.close()
                    self._process = self._start()
            try:
                return self._process.fork(message, channel, life)
            except MachineError as error:
                raise MachineError(f"{error}\n(started again; before that: {first})") from error

    def give_up(self) -> None:
        """Kill the process, and start no other: who waits for it gets a MachineError at once."""
        self._given_up = True
        self._process.kill()

    def close(self) -> None:
        """End the process; sandboxes that it has forked go on."""
        self._process.close()


class _Process:
    """A zygote's process, and the channel to it."""

    def __init__(self, path: tuple[str, ...], preload: str, environment: Mapping[str, str]) -> None:
        self._lock = threading.Lock()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process runs
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [*_ZYGOTE, str(theirs.fileno()), preload, *path],
            # More threads than one could not be forked.
            env={**environment, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self.pid = self._process.pid
        self._counting = threading.Lock()
        self._askers = 0
        self._closed = False

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, message: Fork, channel: int, life: int) -> Forked:
        """Start one sandbox.

        Raises:
            MachineError: the process does not answer.
        """
        with self._counting:
            self._askers += 1
        try:
            if self._closed:
                raise self._broken()
            return self._ask(message, channel, life)
        finally:
            with self._counting:
                self._askers -= 1
            self._release()

    def _ask(self, message: Fork, channel: int, life: int) -> Forked:
        output_read, output = os.pipe()
        status_read, status = os.pipe()
        stdout = os.fdopen(output_read, "rb")
        status_file = os.fdopen(status_read, "rb", buffering=0)
        try:
            with self._lock:
                transport.send(self._channel, message, (channel, life, output, status))
            answered = True
        except WireError:
            answered = False
        finally:
            os.close(output)
            os.close(status)
        answered = answered and bool(select.select([status_file], [], [], _START_SECONDS)[0])
        if not answered or not (pid := status_file.readline()).strip():
            stdout.close()
            status_file.close()
            raise self._broken()
        return Forked(int(pid), status_file, stdout)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """End it; threads that are asking it just now have their error first."""
        self._process.kill()
        with self._counting:
            self._closed = True
        self._release()

    def _release(self) -> None:
        with self._counting:
            if self._closed and not self._askers:
                self._channel.close()
                self._process.wait()
                self._errors.close()

    def _broken(self) -> MachineError:
        """Why it does not answer: how it ended, and the last that it printed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS_S)
        words = b""
        with contextlib.suppress(ValueError):  # another thread has found out, and closed it
            errors = self._errors.fileno()
            start = max(0, os.fstat(errors).st_size - _LAST_WORDS_BYTES)
            words = os.pread(errors, _LAST_WORDS_BYTES, start)
        text = words.decode("utf-8", "replace").strip() or "it printed nothing"
        end = _how_it_ended(self._process.returncode)
        return MachineError(f"the process that starts Python submissions {end}: {text}")


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return f"does not answer within {_START_SECONDS:g} s"
    if code >= 0:
        return f"has ended with exit status {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    hint = ", maybe for want of memory" if -code == signal.SIGKILL else ""
    return f"was killed by {name}{hint}"


_lock = threading.Lock()
_zygotes: dict[tuple[tuple[str, ...], str], Zygote] = {}
"""By path and preload. Global, since all sessions share them, and the exit must close them."""


def zygote(path: list[str], *, preload: str, environment: Mapping[str, str]) -> Zygote:
    """The zygote for these packages and this preload function, started if there is none.

    The first fork waits for the imports.
    """
    key = (tuple(path), preload)
    with _lock:
        if key in _zygotes and not _zygotes[key].alive:
            _zygotes.pop(key).close()
        if key not in _zygotes:
            _zygotes[key] = Zygote(*key, environment)
        return _zygotes[key]


def give_up() -> None:
    """The run is interrupted: end all zygotes, for their imports take seconds."""
    for each in list(_zygotes.values()):
        each.give_up()


@atexit.register
def _close_all() -> None:
    with _lock:
        while _zygotes:
            _zygotes.popitem()[1].close()
