"""A sandbox seen from outside: started, watched, paused, and ended whole."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO

from harness.errors import MachineError
from harness.sandbox import cgroup, leftovers, processes, scratch
from harness.sandbox.hidden import HiddenMemory
from harness.sandbox.members import Members
from harness.sandbox.pause_gate import pausable
from harness.sandbox.spec import SandboxSpec
from harness.sandbox.support import detect_support, parts, python_files, start_monitor
from harness.sandbox.view import private_places
from harness.sandbox.zygote import Forked, Zygote

_SEND_SECONDS = 10.0
"""Time for a runner to read a message: one that does not must not keep the judge waiting."""
_STOP_SECONDS = 5.0
"""Time for all processes to stop; those that continue each other never do."""
_UNLIMITED = 1 << 60
OUTPUT_BYTES = 64 << 10
"""Greatest size of a submission's output."""
_HIDDEN_MEMORY_EVERY = 8
"""Calls of :meth:`Sandbox.memory` for each search for unmapped anonymous files, which is slow."""


class CappedOutput:
    """Reads a pipe to its end in a thread, so that the writer never waits; returns the start."""

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
        """The text printed, capped, and how much was cut; waits ``wait`` seconds for its end."""
        self._thread.join(wait)
        text = self._kept.decode("utf-8", "replace")
        cut = self._total - len(self._kept)
        return f"{text}\n[... {cut} more bytes were printed]" if cut > 0 else text


class Sandbox:
    """One confined process tree, its channel, and a view of it from outside.

    Further arguments are fields of :class:`~harness.sandbox.spec.SandboxSpec`; the first word of
    ``wrapper`` is a path, and it excludes a zygote.

    Args:
        environment: the whole environment of the process; nothing is inherited.
        readable: files and folders that it sees, read-only, beside the system's and Python's own,
            and those that ``LD_LIBRARY_PATH`` and the like of its environment name.
        memory_bytes: greatest private memory of each process; 0 for no limit.
        host_bytes: the limit of all its memory, kept by the kernel where it can.
        output_bytes: greatest size of its output; the rest is dropped.
        zygote: fork it from there instead of starting an interpreter.
        caches: environment variables that name folders for what compilers have built: each gets a
            folder of its own, which ends with the sandbox.
    """

    def __init__(
        self,
        entry: str,
        environment: Mapping[str, str],
        *,
        memory_bytes: int,
        host_bytes: int = _UNLIMITED,
        readable: Iterable[str] = (),
        devices: Iterable[str] = (),
        cpus: Iterable[int] = (),
        tmp_bytes: int = 1 << 30,
        output_bytes: int = OUTPUT_BYTES,
        zygote: Zygote | None = None,
        caches: Iterable[str] = (),
        wrapper: tuple[str, ...] = (),
    ) -> None:
        self._unseen = HiddenMemory()
        self.folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=scratch.home()))
        support = detect_support()
        # A tool has its parts beside it.
        tools = (str(Path(tool).resolve().parent) for tool in wrapper[:1])
        self._group = cgroup.new_group(host_bytes)
        spec = SandboxSpec(
            folder=str(self.folder),
            namespaces=support.namespaces,
            own_user=support.own_user,
            readable=(*python_files(), *readable, *_named_paths(environment), *tools),
            devices=tuple(devices),
            cpus=tuple(cpus),
            tmp_bytes=tmp_bytes,
            file_bytes=tmp_bytes,
            memory_bytes=memory_bytes,
            group=str(self._group.members) if self._group is not None else "",
            wrapper=wrapper,
            entry=entry,
        )
        folders = {name: str(self.folder / name.lower()) for name in caches}
        folders |= {"HOME": spec.folder, "TMPDIR": spec.folder}
        self.process = self._start(spec, {**environment, **folders}, zygote)
        assert self.process.stdout is not None
        self.output = CappedOutput(self.process.stdout, output_bytes)
        self.isolated = spec.namespaces
        self._private_places = private_places(spec.folder)
        self._members = Members(self.process.pid)
        self._stopped: list[int] = []
        self._looks = 0
        self._hidden = 0
        self._in_gate = ExitStack()
        self._in_gate.enter_context(pausable(self.process.pid))

    def _start(
        self, spec: SandboxSpec, environment: Mapping[str, str], zygote: Zygote | None
    ) -> subprocess.Popen[bytes] | Forked:
        """Start the monitor with the other ends of our channel and of our *life* pipe."""
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.settimeout(_SEND_SECONDS)
        life_read, self._life = os.pipe()
        fd = theirs.fileno()
        try:
            if zygote is None:
                return start_monitor(spec, environment, life_read, channel=fd)
            return zygote.fork(environment, spec, fd, life_read)
        except MachineError:
            self.channel.close()
            os.close(self._life)
            self.folder.rmdir()
            if self._group is not None:
                self._group.close()
            raise
        finally:
            theirs.close()
            os.close(life_read)

    def memory(self) -> int:
        """Bytes that all submitted processes hold now, as far as something shows them.

        Files in memory, pipes and sockets count beside the processes' own.
        """
        members = self._members.look()
        if self._looks % _HIDDEN_MEMORY_EVERY == 0:
            self._hidden = processes.hidden_bytes(members)
        self._looks += 1
        seen = processes.resident_bytes(members) + self._files() + self._hidden
        return seen if self._group is None else max(seen, self._group.memory())

    def out_of_memory(self) -> bool:
        """Whether the kernel has ended it for its memory."""
        return self._group is not None and self._group.out_of_memory()

    def _files(self) -> int:
        """Bytes in its private file systems, and the most that its sockets can hold."""
        init = self._members.init
        if not (self.isolated and init):
            return 0
        root = f"/proc/{init}/root"
        files = sum(processes.private_files_bytes(root, each) for each in self._private_places)
        return files + processes.sockets_bytes(init)

    def hides(self, room: int) -> bool:
        """Whether it holds more than ``room`` bytes beside those that :meth:`memory` has just seen.

        Also whether it has taken the machine's last memory. What may have done so is ended, since
        what is free then tells.

        Raises:
            MachineError: there is no memory left, or as much was taken, and not by this.
        """
        shown = self._files() + self._hidden
        hidden = 0
        if self._group is None:
            hidden = self._unseen.beyond(room, self._members.look(), shown)
        if hidden or self._unseen.short():
            self._unseen.blame(self.close, hidden)
            return True
        return False

    def computes(self) -> bool:
        """Whether a thread of the submitted processes computes, or would if it had a processor."""
        return processes.computes(self._members.look())

    def processor_seconds(self) -> float:
        """What all submitted processes took of processors, those that have ended included.

        Those whose parent let the kernel forget them are not seen any more.
        """
        members = self._members.look()
        return processes.processor_seconds([self._members.init, *members])

    def pause(self) -> bool:
        """Stop every process that runs submitted code; whether all of them have stopped."""
        self._stopped, all_stopped = processes.stop(self._members.look, _STOP_SECONDS)
        return all_stopped

    def resume(self) -> None:
        """Continue what :meth:`pause` stopped, within microseconds: the clock is running."""
        processes.send(self._stopped, signal.SIGCONT)
        self._stopped = []

    def running(self) -> int:
        """How many processes run submitted code, as :meth:`pause` found them."""
        return self._members.running()

    def ended(self) -> int | None:
        """The exit status if it has ended: 128 + n for signal n."""
        code = self.process.poll()
        return 128 - code if code is not None and code < 0 else code

    def close(self, *, wait: bool = True) -> None:
        """End every process of the sandbox, wait until they are gone, wipe the folder.

        What the kernel does not let go of is left to :mod:`harness.sandbox.leftovers`; without
        ``wait`` all of it is, once it was killed.
        """
        if self._life < 0:
            return
        self._in_gate.close()
        if self.process.poll() is None:
            tree = [self.process.pid, *processes.descendants(self.process.pid)]
        else:  # its namespace ended with it, if it had one
            tree = [] if self.isolated else processes.in_session(self.process.pid)
        killed = processes.kill(tree)
        os.close(self._life)
        self._life = -1
        self._members.close()
        if wait:
            self._wait(killed)
        else:
            leftovers.later(partial(self._wait, killed))

    def _wait(self, killed: dict[int, int]) -> None:
        if leftovers.end(killed, self.process, self.folder):
            self.process.wait()
        self.channel.close()
        if self._group is not None:
            self._group.close()


def _named_paths(environment: Mapping[str, str]) -> list[str]:
    """The folders and files that an environment points to."""
    folders = environment.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    files = environment.get("LD_PRELOAD", "").split(os.pathsep)
    named = [*folders, *files, environment.get("CUDA_HOME", "")]
    found = [path for path in named if Path(path).is_absolute()]
    compiler = shutil.which(environment.get("CC", ""), path=environment.get("PATH"))
    return [*found, compiler, *map(str, parts(Path(compiler)))] if compiler else found
