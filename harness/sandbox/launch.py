"""Starting a process in the sandbox, watching it from outside, and ending all of it."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from harness.errors import MachineError
from harness.sandbox import processes, scratch
from harness.sandbox.pause_gate import pausable
from harness.sandbox.spec import SandboxSpec
from harness.sandbox.support import MONITOR, SandboxSupport, detect_support, parts, python_files
from harness.sandbox.view import private_places
from harness.sandbox.zygote import Forked, Zygote

_END_SECONDS = 10.0
_SEND_SECONDS = 10.0
_STOP_SECONDS = 5.0
_RARELY = 8

OUTPUT_BYTES = 64 << 10
"""How much is kept of what a submission prints."""


class CappedOutput:
    """Reads a pipe to its end in a thread, keeping the first and dropping the rest.

    A flood of output neither fills the judge's memory nor blocks the writer.
    """

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        self._pipe = pipe
        self._limit = limit
        self._kept = bytearray()
        self._total = 0
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._pipe.fileno(), 65536):
                self._total += len(chunk)
                self._kept += chunk[: max(0, self._limit - len(self._kept))]

    def text(self, wait: float = 0.5) -> str:
        """What was printed, capped; says how much was cut. Waits for the end of the stream."""
        self._thread.join(wait)
        text = bytes(self._kept).decode("utf-8", "replace")
        cut = self._total - len(self._kept)
        return f"{text}\n[... {cut} more bytes were printed]" if cut > 0 else text


class Sandbox:
    """One confined process tree, its channel, and what can be seen of it from outside.

    Args:
        environment: the whole environment of the process; nothing is inherited.
        memory_bytes: limit on its private memory; 0 for none (ASan reserves terabytes).
        readable: files and folders that it sees, read-only, beside the system's and Python's own,
            and those that ``LD_LIBRARY_PATH`` and the like of its environment name.
        devices: device nodes that it can use.
        tmp_bytes: size of its private temporary folder.
        output_bytes: how much of what it prints is kept.
        confined: try namespaces (False only in tests of the fallback).
        nursery: fork it from there instead of starting an interpreter.
        caches: environment variables that name folders where compilers keep what they have built:
            each gets a folder of its own, which ends with the sandbox.
        wrapper: a command (its first word a path) that starts the runner, such as a debugging
            tool; not with a nursery.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        memory_bytes: int,
        readable: Iterable[str] = (),
        devices: Iterable[str] = (),
        tmp_bytes: int = 1 << 30,
        output_bytes: int = OUTPUT_BYTES,
        confined: bool = True,
        zygote: Zygote | None = None,
        caches: Iterable[str] = (),
        wrapper: tuple[str, ...] = (),
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=scratch.home()))
        how = detect_support() if confined else SandboxSupport(namespaces=False, own_user=False)
        self.isolated = how.namespaces
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        life_read, self._life = os.pipe()
        plan = SandboxSpec(
            folder=str(self.folder),
            namespaces=how.namespaces,
            own_user=how.own_user,
            readable=(*python_files(), *readable, *_named(environment), *_tool(wrapper)),
            devices=tuple(devices),
            tmp_bytes=tmp_bytes,
            file_bytes=tmp_bytes,
            memory_bytes=memory_bytes,
            wrapper=wrapper,
        )
        environment = {
            **environment,
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            **{name: str(self.folder / name.lower()) for name in caches},
        }
        fds = (theirs.fileno(), life_read)
        start = _started if zygote is None else zygote.fork
        try:
            self.process: subprocess.Popen[bytes] | Forked = start(environment, plan, *fds)
        except MachineError:
            ours.close()
            os.close(self._life)
            self.folder.rmdir()
            raise
        finally:
            theirs.close()
            os.close(life_read)
        # A runner that does not read what it is sent must not keep the judge waiting for ever.
        ours.settimeout(_SEND_SECONDS)
        self.channel = ours
        assert self.process.stdout is not None
        self.output = CappedOutput(self.process.stdout, output_bytes)
        self._stopped: list[int] = []
        self._members: list[int] = []
        self._supervisor = 0
        self._last_census: frozenset[str] | None = None
        self._private = private_places(str(self.folder))
        self._standing = ExitStack()
        self._standing.enter_context(pausable(self.process.pid))
        self._looks = 0
        self._hidden = 0

    # -- from outside ----------------------------------------------------------------------------

    def _submitted(self) -> list[int]:
        """The processes that run submitted code: all but ours (the keeper and the supervisor).

        A walk over all of /proc takes milliseconds, so it is only made when the sandbox's own
        /proc, which lists nothing else, has changed.
        """
        census = self._census()
        if census is None or census != self._last_census:
            below = processes.descendants(self.process.pid)
            self._supervisor = below[0] if below else 0
            self._members = below[1:]
            self._last_census = census  # from before the walk: what came meanwhile shows next time
        return self._members

    def _census(self) -> frozenset[str] | None:
        """Process ids as the sandbox's own /proc lists them; None where it has none."""
        if not self._supervisor:
            return None
        try:
            entries = os.listdir(f"/proc/{self._supervisor}/root/proc")
        except OSError:
            return None
        return frozenset(entry for entry in entries if entry.isdigit())

    def memory(self) -> int:
        """Bytes that all submitted processes hold now, those of their files in memory included.

        Anonymous files that nobody has mapped are looked for every :data:`_RARELY` calls.
        """
        members = self._submitted()
        if self._looks % _RARELY == 0:
            self._hidden = processes.hidden_bytes(members)
        self._looks += 1
        files = 0
        if self.isolated and self._supervisor:
            root = f"/proc/{self._supervisor}/root"
            files = sum(processes.private_files_bytes(root, place) for place in self._private)
        return processes.resident_bytes(members) + files + self._hidden

    def pause(self) -> bool:
        """Stop every process that runs submitted code; whether all were seen to stand still."""
        self._stopped, stands = processes.stop(self._submitted, _STOP_SECONDS)
        return stands

    def resume(self) -> None:
        """Continue what :meth:`pause` stopped; takes microseconds, for the clock is running."""
        processes.send(self._stopped, signal.SIGCONT)
        self._stopped = []

    def ended(self) -> int | None:
        """The exit status if it has ended: 128 + n for signal n."""
        code = self.process.poll()
        return 128 - code if code is not None and code < 0 else code

    def close(self) -> None:
        """End every process of the sandbox, wait until they are gone, wipe the folder.

        Raises:
            MachineError: some process cannot be ended (stuck in the kernel).
        """
        if self._life < 0:
            return
        self._standing.close()
        if self.process.poll() is None:
            tree = [self.process.pid, *processes.descendants(self.process.pid)]
        else:  # its namespace ended with it, if it had one
            tree = [] if self.isolated else processes.in_session(self.process.pid)
        os.close(self._life)
        self._life = -1
        alive = processes.end(tree, _END_SECONDS)
        if not alive:
            self.process.wait()
        self.channel.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        if alive:
            raise MachineError(
                f"processes {alive} of a submission cannot be ended; is the driver stuck?"
            )


def _named(environment: Mapping[str, str]) -> list[str]:
    """The folders and files that a runner is told to look at."""
    folders = environment.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    files = environment.get("LD_PRELOAD", "").split(os.pathsep)
    compiler = shutil.which(environment.get("CC", ""), path=environment.get("PATH"))
    named = [*folders, *files, environment.get("CUDA_HOME", "")]
    found = [path for path in named if Path(path).is_absolute()]
    return [*found, compiler, *map(str, parts(Path(compiler)))] if compiler else found


def _tool(wrapper: tuple[str, ...]) -> list[str]:
    """A tool has its parts beside it."""
    return [str(Path(wrapper[0]).resolve().parent)] if wrapper else []


def _started(
    environment: Mapping[str, str], plan: SandboxSpec, channel: int, life: int
) -> subprocess.Popen[bytes]:
    """A sandbox whose first process is a fresh interpreter."""
    # Unbuffered: what was printed before a process is killed is there to be shown.
    return subprocess.Popen(
        [*MONITOR, json.dumps(plan.to_json()), str(channel), str(life)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(channel, life),
        start_new_session=True,
    )
