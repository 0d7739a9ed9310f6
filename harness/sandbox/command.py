"""Run one command that works on untrusted data (a compiler, a parser) within hard limits.

Its sandbox shows the system's programs and headers, what the caller names, and the folder it works
in. Its output is read as it comes and capped, the memory of its process tree is watched from
outside, and the whole tree is killed when a limit is passed, when the command ends, or when this
process dies.
"""

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from harness.errors import MachineError
from harness.sandbox import host_memory, processes, scratch
from harness.sandbox.init import NO_SANDBOX
from harness.sandbox.pause_gate import builders, clock, pausable, waiting
from harness.sandbox.spec import SandboxSpec
from harness.sandbox.support import detect_support, python_files, start_monitor

_TICK_S = 0.02
"""Seconds between two checks of the limits; output wakes the reader earlier."""
_DRAIN_S = 1.0
"""Seconds to read on after the command ended, should a descendant keep the pipe open."""
_MAX_PROCESSES = 8192
"""Generous, since some kernels count them per user, not per command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """The outcome of a limited command."""

    returncode: int
    """Negative for a signal (as in :mod:`subprocess`), also where a shell reports one."""
    output: str
    """Standard output and error together: untrusted text, capped."""
    timed_out: bool
    """It was stopped at its limit of wall time."""
    over_memory: bool
    """It was stopped at its limit of memory."""
    truncated: bool
    """The end of the output was dropped."""
    seconds: float
    """Wall time, less the time in which it was paused (:mod:`harness.sandbox.pause_gate`)."""
    peak_bytes: int
    """Greatest resident memory seen of the whole tree."""
    memory_bytes: int = 0
    """The limit of memory that it had; 0 if it is not known."""
    near_memory_limit: bool = False
    """It held nearly that much, or its share when the kernel ran out of memory."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, and well."""
        return self.returncode == 0 and not (self.timed_out or self.over_memory)

    def memory_message(self, action: str, usual_bytes: int) -> str:
        """What a submission is told whose ``action`` took too much memory, with peak and limit."""
        peak, limit = self.peak_bytes >> 20, self.memory_bytes >> 20
        lower = f" (what this machine had free; else {usual_bytes >> 20})" * (
            limit < usual_bytes >> 20
        )
        return (
            f"{action} takes too much memory: it held {peak} MiB and wanted more, "
            f"and the limit is {limit} MiB{lower}"
        )


def clean_environment(folder: Path, search: Sequence[Path] = ()) -> dict[str, str]:
    """The whole environment of a command: English, at home in ``folder``, ``search`` in PATH."""
    path = os.pathsep.join(dict.fromkeys([*map(str, search), "/usr/local/bin", "/usr/bin", "/bin"]))
    return {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}


def run_limited(
    argv: Sequence[str],
    *,
    cwd: Path,
    seconds: float,
    memory_bytes: int,
    output_bytes: int,
    environment: Mapping[str, str],
    readable: Iterable[Path] = (),
    file_bytes: int = 1 << 30,
    stdin: bytes | None = None,
) -> CommandResult:
    """Run ``argv`` in ``cwd`` and wait for its end, at most ``seconds`` of wall time.

    ``memory_bytes`` bounds the resident memory of the whole tree, and the private memory of each
    process; the limit is lower where the machine has less (:func:`host_memory.build_share`).
    ``output_bytes`` bounds the output returned, ``file_bytes`` each file it writes. ``environment``
    is all of its environment. The command can write to ``cwd`` alone; it sees ``readable``, the
    system's own files and Python's.

    Raises:
        MachineError: the sandbox cannot be made.
    """
    if not cwd.is_dir():
        raise MachineError(f"cannot start {argv[0]}: there is no folder {cwd}")
    folder = tempfile.TemporaryDirectory(prefix="command-", dir=scratch.home())
    memory_bytes = host_memory.build_share(memory_bytes, builders())
    with tempfile.TemporaryFile() as given, folder as root:
        given.write(stdin or b"")
        given.seek(0)
        spec = SandboxSpec(
            folder=root,
            namespaces=detect_support().namespaces,
            own_user=False,  # its files are the judge's
            readable=(*python_files(), *map(str, readable)),
            writable=(str(cwd),),
            file_bytes=file_bytes,
            memory_bytes=memory_bytes,  # no process can outgrow it between two looks
            processes=_MAX_PROCESSES,
            command=tuple(argv),
            cwd=str(cwd),
        )
        started = clock()
        life_read, life = os.pipe()
        peak_read, peak = os.pipe()
        with start_monitor(spec, environment, life_read, stdin=given, peak=peak) as process:
            os.close(life_read)
            os.close(peak)
            assert process.stdout is not None
            deadline = started + seconds
            watch = _TreeWatch(process, process.stdout, deadline, memory_bytes, output_bytes)
            try:
                with pausable(process.pid):
                    watch.follow()
            finally:
                os.close(life)
                watch.kill()
                with open(peak_read, "rb") as told:  # written by the monitor alone
                    watch.peak_bytes = max(watch.peak_bytes, int(told.read() or 0))
    finished = watch.finished(clock() - started)
    if process.returncode == NO_SANDBOX and finished.output.startswith("no sandbox"):
        raise MachineError(f"cannot start {argv[0]}: {finished.output.strip()}")
    return finished


@dataclass(slots=True)
class _TreeWatch:
    """Reads a process's output from ``pipe`` and holds it to its limits."""

    process: subprocess.Popen[bytes]
    pipe: IO[bytes]
    deadline: float
    memory_bytes: int
    output_bytes: int
    output: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    timed_out: bool = False
    over_memory: bool = False
    peak_bytes: int = 0
    oom_kills: int = field(default_factory=lambda: host_memory.oom_kills())

    def follow(self) -> None:
        """Return when the command has ended or a limit is passed (then it still runs)."""
        os.set_blocking(self.pipe.fileno(), False)
        poller = select.poll()
        poller.register(self.pipe, select.POLLIN)
        open_pipe = True
        next_look = 0.0
        while self.process.poll() is None:
            now = clock()
            if now >= self.deadline:
                self.timed_out = True
                return
            if now >= next_look:
                self.over_memory = self._is_over_memory()
                if self.over_memory:
                    return
                next_look = now + _TICK_S
            if open_pipe:
                open_pipe = self._read(poller, min(_TICK_S, self.deadline - now))
            else:
                # It closed its output, and works on.
                with suppress(subprocess.TimeoutExpired), waiting():
                    self.process.wait(_TICK_S)
        end = min(self.deadline, clock() + _DRAIN_S)
        _kill_group(self.process.pid)
        while open_pipe and clock() < end:
            open_pipe = self._read(poller, _TICK_S)

    def finished(self, seconds: float) -> CommandResult:
        """The outcome of a process that was reaped ``seconds`` after its start."""
        code, peak, limit = self.process.returncode, self.peak_bytes, self.memory_bytes
        return CommandResult(
            returncode=128 - code if 128 < code <= 128 + signal.SIGRTMAX else code,
            output=self.output.decode("utf-8", "replace"),
            timed_out=self.timed_out,
            over_memory=self.over_memory,
            truncated=self.truncated,
            seconds=seconds,
            peak_bytes=peak,
            memory_bytes=limit,
            near_memory_limit=host_memory.is_near(limit, peak, self.oom_kills),
        )

    def kill(self) -> None:
        """Kill the command's session and every descendant, and reap it, unless that is done."""
        if self.process.returncode is None:  # else its number may belong to another by now
            tree = processes.descendants(self.process.pid)
            _kill_group(self.process.pid)
            processes.send([self.process.pid, *tree], signal.SIGKILL)
            self.process.wait()

    def _is_over_memory(self) -> bool:
        """Look at the memory of the tree: it passes its limit, or takes the machine's last."""
        tree = [self.process.pid, *processes.family(self.process.pid)]
        held = processes.resident_bytes(tree)
        self.peak_bytes = max(self.peak_bytes, held)
        if held <= host_memory.GUARANTEED * self.memory_bytes:
            return False
        crowded = host_memory.free_bytes() < host_memory.reserve_bytes() // 2
        return crowded or held > self.memory_bytes

    def _read(self, poller: select.poll, wait_s: float) -> bool:
        """Take the output that comes within ``wait_s``; False at its end."""
        with waiting():
            ready = poller.poll(1000 * wait_s)
        if not ready:
            return True
        try:
            chunk = os.read(self.pipe.fileno(), 1 << 16)
        except BlockingIOError:  # the command has opened its own output, and read it
            return True
        room = self.output_bytes - len(self.output)
        self.output += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room
        return bool(chunk)


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
