"""A PostgreSQL server of one's own in a folder, to be restarted and killed at will."""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Literal, Self

from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from harness.sandbox.processes import descendants

_STARTS_S = 60.0
_NOBODY = "nobody"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",  # what is killed here are processes, and the kernel keeps what they wrote
    "shared_buffers": "16MB",
    "max_connections": "30",
    "logging_collector": "off",
}

Stop = Literal["smart", "fast", "immediate"]


class PostgresqlMissing(Exception):
    """This machine has no PostgreSQL server, or no driver for it."""


class Server:
    """A server in a temporary folder of its own, on a port of this machine that is free now.

    As a context manager it runs until the end, unless it was stopped, and then its folder goes.

    Raises:
        PostgresqlMissing: ``initdb``, ``postgres`` or psycopg is not installed.
    """

    def __init__(self) -> None:
        self._initdb, self._postgres = find_programs()
        # PostgreSQL refuses to run as root.
        self._user = _NOBODY if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The store in it."""
        return f"postgresql+psycopg://harness@127.0.0.1:{self._port}/postgres"

    def processes(self) -> set[int]:
        """Numbers of its processes."""
        return (
            set() if self._process is None else {self._process.pid, *descendants(self._process.pid)}
        )

    def start(self, **settings: str) -> None:
        """Start it, with ``settings`` besides, and wait until it answers."""
        chosen = {**_SETTINGS, "port": str(self._port), "unix_socket_directories": ""} | settings
        words = [word for name, value in chosen.items() for word in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            command = [self._postgres, "-D", str(self._folder / "data"), *words]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user,
                start_new_session=True,
            )
        self._wait()

    def stop(self, how: Stop = "fast") -> None:
        """Stop it as ``pg_ctl stop -m`` does, and wait until it has gone."""
        numbers = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(numbers[how])
            self._process.wait(_STARTS_S)
            self._process = None

    def kill(self) -> None:
        """End all of its processes at once, as if the power had been cut."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(_STARTS_S)
            self._process = None

    def restart(self, how: Stop, down_s: float = 0.0) -> None:
        """Stop it, start it ``down_s`` seconds later, and wait until it answers."""
        self.stop(how)
        time.sleep(down_s)
        self.start()

    def _wait(self) -> None:
        deadline = time.monotonic() + _STARTS_S
        engine = create_engine(self.url, poolclass=NullPool)
        while True:
            try:
                engine.connect().close()
                return
            except OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def __enter__(self) -> Self:
        try:
            if self._user:
                shutil.chown(self._folder, self._user)
            command = [self._initdb, "-D", str(self._folder / "data"), "-U", "harness", "--no-sync"]
            command += ["-A", "trust", "-E", "UTF8", "--locale=C"]
            subprocess.run(command, user=self._user, check=True, capture_output=True, cwd="/")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop("immediate")  # a killed one would leave shared memory
        shutil.rmtree(self._folder, ignore_errors=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def find_programs() -> tuple[str, str]:
    """Paths of ``initdb`` and ``postgres``.

    Raises:
        PostgresqlMissing: one of them, or psycopg, is not installed.
    """
    if importlib.util.find_spec("psycopg") is None:
        raise PostgresqlMissing("psycopg is not installed")
    return _program("initdb"), _program("postgres")


def _program(name: str) -> str:
    versions = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")  # Debian has them outside of PATH
    newest = max(map(str, versions), default=None)
    if (found := shutil.which(name) or newest) is None:
        raise PostgresqlMissing(f"PostgreSQL's {name} is not installed")
    return found
