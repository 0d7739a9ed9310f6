"""Run one command that works on untrusted data (a compiler, a parser) within hard limits.

What it gives: an own session, a cleared environment, no inherited descriptors, kernel limits set
before the command starts, output read as it comes and capped, the memory of the whole process tree
watched from outside, and the whole tree killed when a limit is passed, when the command ends, or
when this process dies.

Where the machine allows it, the command runs in a sandbox as runners do: in namespaces of its own,
without network or sight of other processes, behind a filter of system calls, and with a view of the
file system that has the system's programs and headers, what the caller names, and the folder it
works in.
"""

import json
import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.errors import MachineError
from harness.sandbox import processes, scratch
from harness.sandbox.init import NO_SANDBOX
from harness.sandbox.pause_gate import clock, pausable, waiting
from harness.sandbox.spec import SandboxSpec
from harness.sandbox.support import MONITOR, detect_support, python_files

TICK_S = 0.05
"""How often the limits are looked at; output wakes the reader earlier."""

DRAIN_S = 1.0
"""How long to read on after the command ended, should a descendant keep the pipe open."""

DEFAULT_FILE_BYTES = 1 << 30
MAX_PROCESSES = 8192  # by some kernels counted per user, not per command: hence generous
MAX_OPEN_FILES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a limited command ended.

    ``returncode`` is negative for a signal (as in :mod:`subprocess`), also where a shell tells of
    one. ``output`` is stdout and stderr together, untrusted text; ``truncated`` says that its end
    was dropped. ``seconds`` is wall time without that in which it had to stand still
    (:mod:`harness.sandbox.pause_gate`), ``peak_bytes`` the greatest resident memory seen of the whole
    tree.
    """

    returncode: int
    output: str
    timed_out: bool
    over_memory: bool
    truncated: bool
    seconds: float
    peak_bytes: int

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, and well."""
        return self.returncode == 0 and not (self.timed_out or self.over_memory)


def clean_environment(folder: Path, search: Sequence[Path] = ()) -> dict[str, str]:
    """The whole environment of a confined command.

    ``folder`` becomes its home and its temporary directory, ``search`` comes first in PATH.
    English messages, so that they read the same everywhere.
    """
    path = [*map(str, search), "/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "PATH": os.pathsep.join(dict.fromkeys(path)),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
    }


def run_limited(
    argv: Sequence[str],
    *,
    cwd: Path,
    seconds: float,
    memory_bytes: int,
    output_bytes: int,
    environment: Mapping[str, str],
    readable: Iterable[Path] = (),
    file_bytes: int = DEFAULT_FILE_BYTES,
    stdin: bytes | None = None,
) -> Finished:
    """Run ``argv`` in ``cwd`` and wait for its end, at most ``seconds`` of wall time.

    ``memory_bytes`` bounds the resident memory of the whole tree, ``output_bytes`` what is kept of
    its output, ``file_bytes`` each file it writes. ``environment`` is complete: nothing is
    inherited. ``cwd`` is the one folder that the command can write to, ``readable`` is what it sees
    beside that, the system's own files and Python's.

    Raises:
        MachineError: the sandbox cannot be made.
    """
    if not cwd.is_dir():
        raise MachineError(f"cannot start {argv[0]}: there is no folder {cwd}")
    folder = tempfile.TemporaryDirectory(prefix="command-", dir=scratch.home())
    with tempfile.TemporaryFile() as given, folder as root:
        given.write(stdin or b"")
        given.seek(0)
        plan = SandboxSpec(
            folder=root,
            namespaces=detect_support().namespaces,
            own_user=False,  # what it writes is the judge's
            readable=(*python_files(), *map(str, readable)),
            writable=(str(cwd),),
            file_bytes=file_bytes,
            # The tree's memory is watched from outside; the kernel's limit is the second line, wide
            # enough that the watch decides first.
            memory_bytes=memory_bytes + memory_bytes // 2,
            open_files=MAX_OPEN_FILES,
            processes=MAX_PROCESSES,
            command=tuple(argv),
            cwd=str(cwd),
        )
        started = clock()
        process, life = _started(plan, given, environment)
        watch = _TreeWatch(process, started + seconds, memory_bytes, output_bytes)
        try:
            with pausable(process.pid):
                watch.follow()
        finally:
            os.close(life)
            _kill_tree(process)
            watch.close()
    finished = watch.finished(clock() - started)
    if process.returncode == NO_SANDBOX and finished.output.startswith("no sandbox"):
        raise MachineError(f"cannot start {argv[0]}: {finished.output.strip()}")
    return finished


def _started(
    plan: SandboxSpec, stdin: IO[bytes], environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], int]:
    """The keeper of the sandbox, and the descriptor whose end is that of all in it."""
    life_read, life = os.pipe()
    process = subprocess.Popen(
        [*MONITOR, json.dumps(plan.to_json()), "-", str(life_read)],
        env=dict(environment),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=(life_read,),
    )
    os.close(life_read)
    return process, life


class _TreeWatch:
    """Reads a process's output and holds it to its limits."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        deadline: float,
        memory_bytes: int,
        output_bytes: int,
    ) -> None:
        assert process.stdout is not None
        self._process = process
        self._pipe = process.stdout
        self._deadline = deadline
        self._memory_bytes = memory_bytes
        self._output_bytes = output_bytes
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pipe, selectors.EVENT_READ)
        os.set_blocking(self._pipe.fileno(), False)
        self._kept = bytearray()
        self._truncated = False
        self._timed_out = False
        self._over_memory = False
        self._peak_bytes = 0

    def follow(self) -> None:
        """Return when the command has ended or a limit is passed (then it still runs)."""
        open_pipe = True
        next_look = 0.0
        while self._process.poll() is None:
            now = clock()
            if now >= self._deadline:
                self._timed_out = True
                return
            if now >= next_look:
                tree = [self._process.pid, *processes.family(self._process.pid)]
                self._peak_bytes = max(self._peak_bytes, processes.resident_bytes(tree))
                if self._peak_bytes > self._memory_bytes:
                    self._over_memory = True
                    return
                next_look = now + TICK_S
            if open_pipe:
                open_pipe = self._read(min(TICK_S, self._deadline - now))
            else:
                # It closed its output, and works on.
                with suppress(subprocess.TimeoutExpired), waiting():
                    self._process.wait(TICK_S)
        end = min(self._deadline, clock() + DRAIN_S)
        _kill_group(self._process.pid)
        while open_pipe and clock() < end:
            open_pipe = self._read(TICK_S)

    def finished(self, seconds: float) -> Finished:
        """How it ended, once it has been reaped, ``seconds`` after it was started."""
        code = self._process.returncode
        return Finished(
            returncode=128 - code if 128 < code <= 128 + signal.SIGRTMAX else code,
            output=self._kept.decode("utf-8", "replace"),
            timed_out=self._timed_out,
            over_memory=self._over_memory,
            truncated=self._truncated,
            seconds=seconds,
            peak_bytes=self._peak_bytes,
        )

    def close(self) -> None:
        """Let go of the pipe."""
        self._selector.close()
        self._pipe.close()

    def _read(self, wait_s: float) -> bool:
        """Take what is there within ``wait_s``; false at the end of the output."""
        with waiting():
            ready = self._selector.select(wait_s)
        if not ready:
            return True
        try:
            chunk = os.read(self._pipe.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        room = self._output_bytes - len(self._kept)
        self._kept += chunk[:room]
        self._truncated = self._truncated or len(chunk) > room
        return bool(chunk)


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill the command's session and every descendant, and reap it.

    Nothing is left to do for one that was reaped: :meth:`_TreeWatch.follow` killed its session, and
    its number may belong to another process by now.
    """
    if process.returncode is not None:
        return
    tree = processes.descendants(process.pid)
    _kill_group(process.pid)
    processes.send([process.pid, *tree], signal.SIGKILL)
    process.wait()


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
