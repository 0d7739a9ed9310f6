"""A control group for each sandbox, in which the kernel itself counts and limits memory.

That is cgroup v2, where systemd (or whoever manages it) has delegated the judge's own group to the
judge: :data:`HOW` gets one. Processes may only be in leaves, so the judge moves itself, if nobody
else is in that group, to a leaf beside those of the sandboxes. Everything counts then: shared
memory wherever it hides, sockets, pipes, and what the kernel keeps for processes. The group of a
judge that was killed is empty, and goes when whoever has delegated the judge's ends that.
"""

import contextlib
import functools
import os
import tempfile
import threading
import time
from pathlib import Path

from harness.sandbox import processes
from harness.sandbox.view import PROCESSES

HOW = "systemd-run --user --scope -p Delegate=yes harness …"
"""The command that runs another in a delegated group."""

_MOUNT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_LEAF = "harness-judge"
_CONTROLLERS = ("memory", "pids")
_SPARE_BYTES = 64 << 20
"""Beyond the limit, so that the judge mostly sees first that it was passed."""
_TRIES = 5
_GONE_S = 2.0
"""Time for a group of ended processes to be empty."""

_finding = threading.Lock()


class Group:
    """One group, with room for ``memory_bytes`` and no swap; beyond that all of it is killed.

    A process joins that writes ``0`` to :attr:`members`.

    Raises:
        OSError: it cannot be made in ``base``.
    """

    def __init__(self, base: Path, memory_bytes: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=base))
        self.members = self._folder / "cgroup.procs"
        self._write("memory.max", memory_bytes + _SPARE_BYTES)
        self._write("memory.oom.group", 1)
        self._write("pids.max", PROCESSES)
        with contextlib.suppress(OSError):  # a kernel without swap has no such file
            self._write("memory.swap.max", 0)

    def memory(self) -> int:
        """Bytes that it holds now, without copies of files that the kernel can drop; 0 if gone."""
        with contextlib.suppress(OSError):
            current = int((self._folder / "memory.current").read_text())
            stat = self._counts("memory.stat")
            return max(0, current - stat["active_file"] - stat["inactive_file"])
        return 0

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed it, or a part of it, for its limit."""
        with contextlib.suppress(OSError):
            return self._counts("memory.events").get("oom_kill", 0) > 0
        return False

    def close(self) -> None:
        """Kill what is in it and remove it; a group of processes that are stuck stays."""
        with contextlib.suppress(OSError):
            self._write("cgroup.kill", 1)
        deadline = time.monotonic() + _GONE_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                return self._folder.rmdir()
            time.sleep(0.01)
        return None

    def _write(self, name: str, value: int) -> None:
        (self._folder / name).write_text(str(value), encoding="ascii")

    def _counts(self, name: str) -> dict[str, int]:
        lines = (line.split() for line in (self._folder / name).read_text().splitlines())
        return {key: int(value) for key, value in lines}


def new_group(memory_bytes: int) -> Group | None:
    """A group for a sandbox; None where none is delegated to this process."""
    if (base := delegated()) is not None:
        with contextlib.suppress(OSError):  # there may be as many as are allowed
            return Group(base, memory_bytes)
    return None


def delegated() -> Path | None:
    """The folder of the group in which this process may make others; found once."""
    with _finding:
        return _delegated()


@functools.cache
def _delegated() -> Path | None:
    try:
        lines = _OWN.read_text(encoding="utf-8").splitlines()
        own = next(line for line in lines if line.startswith("0::")).removeprefix("0::")
        base = Path(f"{_MOUNT}{own}")
        if base.name == _LEAF:  # this process's parent was a judge, too
            base = base.parent
        if os.getxattr(base, "user.delegate") != b"1" or not _offers(base):
            return None
        return base if any(_make_room(base) for _ in range(_TRIES)) else None
    except (OSError, StopIteration):
        return None


def _offers(base: Path) -> bool:
    return set(_CONTROLLERS) <= set((base / "cgroup.controllers").read_text().split())


def _make_room(base: Path) -> bool:
    """Move what is in ``base`` to a leaf; False if it is not ours, or more has come meanwhile."""
    ours = {os.getpid(), *processes.descendants(os.getpid())}
    members = [int(pid) for pid in (base / "cgroup.procs").read_text().split()]
    if not ours.issuperset(members):
        return False
    leaf = base / _LEAF
    leaf.mkdir(exist_ok=True)
    try:
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                (leaf / "cgroup.procs").write_text(str(pid))
        enable = " ".join(f"+{name}" for name in _CONTROLLERS)
        (base / "cgroup.subtree_control").write_text(enable)
    except OSError:
        return False
    return True
