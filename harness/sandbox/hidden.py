"""Memory that no process shows: files in memory that are in flight, mapped in part, or untouched.

Which process holds such memory only the kernel's memory controller knows
(:mod:`harness.sandbox.cgroup`). Without it there are the sums for the whole machine, which anybody
may change: they give a suspicion, and what is free once the suspect has ended tells whether it was
right.
"""

import contextlib
import functools
import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.errors import MachineError
from harness.sandbox import processes

_MEMINFO = Path("/proc/meminfo")
_IN_FLIGHT = re.compile(r"^scm_fds:\s*(\d+)", re.MULTILINE)
_FREED_S = 3.0
"""Time for the kernel to free what ended processes held."""
_SURE_S, _POLL_S = 1.0, 0.05
"""How long, and how often, memory must be seen by nobody to be suspicious."""
_REST = 10
"""A look at all processes that has found nothing is good for so many times as long as it took.

Where others hold much shared memory it would be taken each time: some 40 ms on a large machine."""


class HiddenMemory:
    """What a sandbox's processes may hold unseen, from what the machine has now and had before.

    To be made before the sandbox is.
    """

    def __init__(self) -> None:
        before = _sums()
        self._shared = before["Shmem"] - _held_by([os.getpid()])
        self._free = _free(before)
        self._floor = min(512 << 20, before["MemTotal"] // 50)
        self._rests_until = 0.0

    def beyond(self, room: int, members: list[int], shown: int) -> int:
        """Bytes of shared memory that came since, and that no process or file system shows.

        0 where that is no more than ``room`` at some moment of a second, or no member has a way to
        hold such: what an ended process held is nobody's until the kernel has freed it. ``shown``
        are the bytes of members' files in memory that are known.
        """
        came = _sums()["Shmem"] - self._shared - shown
        if came <= room or came - _held_by([os.getpid()]) - _mapped(members) <= room:
            return 0
        began = time.monotonic()
        if began < self._rests_until or not any(map(_could_hide, members)):
            return 0
        least = self._unseen(members, shown)
        now = time.monotonic()
        if least <= room:
            self._rests_until = now + _REST * (now - began)
        deadline = now + _SURE_S
        while least > room and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            least = min(least, self._unseen(members, shown))
        return least if least > room else 0

    def _unseen(self, members: Iterable[int] = (), shown: int = 0) -> int:
        """Shared memory that came since, but for what members, this process and others show."""
        others = set(processes.every()).difference(members)
        came = _sums()["Shmem"] - self._shared - shown
        return came - _mapped(members) - _held_by(others)

    def short(self) -> bool:
        """Whether the machine has less left than it needs, and had it before."""
        return _free(_sums()) < self._floor < self._free / 2

    def blame(self, end: Callable[[], None], hidden: int) -> None:
        """Call ``end``, and see that at least half of the ``hidden`` bytes are gone then.

        Where ``hidden`` is 0: at least half of what the machine has lost.

        Raises:
            MachineError: it does not: somebody else holds them.
        """
        before = _sums()
        end()
        if hidden:
            freed = _soon(lambda: self._unseen() <= hidden / 2)
            what = f"{hidden >> 20} MiB of shared memory came on this machine during a grade"
        else:
            freed = _soon(lambda: _free(_sums()) >= (self._free + _free(before)) / 2)
            what = f"this machine has {_free(before) >> 20} MiB of memory left"
        if not freed:
            raise MachineError(f"{what}, and not by the submission: end what else runs here")


def _soon(freed: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _FREED_S
    while not (done := freed()) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return done


def _sums() -> dict[str, int]:
    """The machine's memory by kind, in bytes."""
    lines = (line.split() for line in _MEMINFO.read_text(encoding="ascii").splitlines())
    return {words[0].removesuffix(":"): int(words[1]) << 10 for words in lines}


def _free(sums: dict[str, int]) -> int:
    return sums["MemAvailable"] + sums["SwapFree"]


def _mapped(pids: Iterable[int]) -> int:
    return processes.status_bytes(pids, (b"RssShmem:",))


def _held_by(pids: Iterable[int]) -> int:
    """Shared memory of processes: of each what it has open, or what it has mapped if that is more.

    Judges have batches open before anybody touches them. What several have open counts once.
    """
    known, total = set[tuple[int, int]](), 0
    for pid in pids:
        files = dict(processes.anonymous_files(pid))
        opened = sum(size for file, size in files.items() if file not in known)
        known |= files.keys()
        total += max(opened, _mapped([pid]))
    return total


def _could_hide(pid: int) -> bool:
    """Whether a process has an anonymous file that is not ours, open, mapped or in flight."""
    ours = {inode for (_, inode), _ in processes.anonymous_files(os.getpid())}
    try:
        return bool(_mapped_files(pid) - ours) or any(
            _holds_files(Path(f"/proc/{pid}/task/{thread}"), ours)
            for thread in os.listdir(f"/proc/{pid}/task")  # each may have files of its own
        )
    except OSError:
        return False


def _mapped_files(pid: int) -> set[int]:
    """The inodes of files in memory without a name that a process has mapped."""
    device = _nameless_device()
    with open(f"{processes.alive(pid)}/maps", "rb") as file:
        mappings = (line.split(None, 5) for line in file)
        return {int(words[4]) for words in mappings if words[3] == device}


def _holds_files(thread: Path, ours: set[int]) -> bool:
    """Whether a thread has an anonymous file open, or a socket with files in flight."""
    for fd in (thread / "fd").iterdir():
        with contextlib.suppress(OSError):
            kind = str(fd.readlink())
            if kind.startswith(("/memfd:", "/dev/zero")) and fd.stat().st_ino not in ours:
                return True
            if kind.startswith("socket:"):
                text = (thread / "fdinfo" / fd.name).read_text(encoding="ascii")
                if (count := _IN_FLIGHT.search(text)) is not None and int(count[1]):
                    return True
    return False


@functools.cache
def _nameless_device() -> bytes:
    """The device of memfds and of shared memory without a file, as /proc/PID/maps has it."""
    fd = os.memfd_create("device")
    device = os.fstat(fd).st_dev
    os.close(fd)
    return b"%02x:%02x" % (os.major(device), os.minor(device))
