"""git as a process with limits: objects of strangers may need any amount of memory and time."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, NamedTuple

from harness.errors import MachineError, UsageError

MEMORY_BYTES = 512 << 20
"""Most address space of git, bytes."""

CPU_S = 30
"""Most processor time of a git command, seconds."""

_LIMITED = '{ ulimit -c 0; ulimit -v "$1"; ulimit -t "$2"; } 2>/dev/null; shift 2; exec git "$@"'
"""Limits that hold from git's first instruction on; lower ones that there are already stay."""

_WALL_S = 300.0
_CHUNK = 1 << 20

_SAFE = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    # Reading an object must not fetch: a missing one is an error.
    *("-c", "protocol.allow=never"),
    # Packs are mapped in small windows, so that a large honest repository has room.
    *("-c", "core.packedGitWindowSize=32m", "-c", "core.packedGitLimit=128m"),
    *("-c", "core.deltaBaseCacheLimit=32m"),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_NO_MEMORY = re.compile(r"out of memory|cannot allocate memory|mmap failed", re.IGNORECASE)


class LimitError(UsageError):
    """Git needed more memory or time, or said more, than a pull request is worth."""


class Done(NamedTuple):
    """What git said, and its exit status."""

    status: int
    out: bytes
    err: str

    @property
    def complaint(self) -> str:
        """The first line of its error."""
        lines = self.err.strip().splitlines()
        return lines[0] if lines else f"exit status {self.status}"


def run_git(
    folder: Path, *arguments: str, given: bytes = b"", most: int = 64 << 20, cpu_s: int = CPU_S
) -> Done:
    """Run git in ``folder`` with ``given`` as its input; read at most ``most`` bytes.

    Raises:
        LimitError: it said more, or needed more than :data:`MEMORY_BYTES` or ``cpu_s``.
        MachineError: there is no git, or it took more than five minutes.
    """
    # Files, not pipes: git may write before it has read everything.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        process = _start(folder, arguments, stdin, stderr, cpu_s)
        too_long = threading.Event()

        def end() -> None:
            too_long.set()
            process.kill()

        timer = threading.Timer(_WALL_S, end)
        timer.start()
        try:
            out = _read(process, most)
            if len(out) <= most:
                process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        stderr.seek(0)
        done = Done(process.returncode, out, stderr.read(4096).decode("utf-8", "replace"))
    if too_long.is_set():
        raise MachineError(f"git {arguments[0]} took more than {_WALL_S:.0f} s")
    if reason := _beyond(done, most, cpu_s):
        raise LimitError(f"git {arguments[0]}: {reason}")
    return done


def _start(
    folder: Path, arguments: tuple[str, ...], stdin: IO[bytes], stderr: IO[bytes], cpu_s: int
) -> subprocess.Popen[bytes]:
    if shutil.which("git") is None:
        raise MachineError("git is not installed, or not on PATH")
    return subprocess.Popen(
        ["/bin/sh", "-c", _LIMITED, "git", str(MEMORY_BYTES >> 10), str(cpu_s), *_SAFE, *arguments],
        cwd=folder,
        env={**os.environ, **_ENVIRONMENT},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def _read(process: subprocess.Popen[bytes], most: int) -> bytes:
    """What git writes, up to a little more than ``most`` bytes."""
    assert process.stdout is not None
    parts: list[bytes] = []
    size = 0
    while size <= most and (part := process.stdout.read(_CHUNK)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _beyond(done: Done, most: int, cpu_s: int) -> str:
    """Which limit git met; empty if none."""
    if len(done.out) > most:
        return f"says more than {most >> 10:,} KiB"
    if done.status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"needs more than {cpu_s} s"
    if done.status < 0:
        return f"is ended by signal {-done.status}"  # such as by trees nested too deep
    if _NO_MEMORY.search(done.err):
        return f"needs more than {MEMORY_BYTES >> 20} MiB"
    return ""
