"""Process trees, from /proc: find, measure, stop, continue and end them.

Not psutil, since this runs beside every timed batch: its walk takes 5 ms, and its wait sleeps up to
40 ms at a time.
"""

import contextlib
import os
import select
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_INODE_BYTES = 1 << 10
"""What a file in memory takes of the kernel's, beside its contents."""
PIPE_BYTES = 64 << 10
"""Greatest size of a pipe that is not enlarged: pipe(7)."""
SOCKET_BYTES = 1 << 20
"""Greatest size of what one socket has sent and nobody has read.

That is the default of 208 KiB (``net.core.wmem_default``), which the kernel may exceed once; bytes
sent one by one from a file keep a page each and are charged with a fifth of it."""


class _Stat(NamedTuple):
    state: str
    parent: int
    session: int


def _stat(pid: int) -> _Stat | None:
    """State letter, parent and session of a process; None if it is gone."""
    return _stat_at(f"/proc/{pid}")


def _stat_at(place: str) -> _Stat | None:
    try:
        with open(f"{place}/stat", "rb") as file:
            state, parent, _, session, *_ = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return _Stat(state.decode(), int(parent), int(session))


def _all() -> Iterator[tuple[int, _Stat]]:
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (stat := _stat(int(entry))):
            yield int(entry), stat


def descendants(root: int) -> list[int]:
    """The process ids below ``root``, parents before children, without ``root``."""
    children = defaultdict[int, list[int]](list)
    for pid, stat in _all():
        children[stat.parent].append(pid)
    return _below(root, children.__getitem__)


def _below(root: int, children: Callable[[int], list[int]]) -> list[int]:
    found = [root]
    for pid in found:  # grows meanwhile
        found += children(pid)
    return found[1:]


_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def family(root: int) -> list[int]:
    """The same as :func:`descendants`, in a time that does not grow with the machine's processes.

    One that starts or ends at this very moment may hide others: to find them all, look until
    nothing changes any more, as :func:`stop` does.
    """
    return _below(root, _children) if _LISTS_CHILDREN else descendants(root)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            path = f"/proc/{pid}/task/{thread}/children"
            with contextlib.suppress(OSError), open(path, "rb") as file:
                found += map(int, file.read().split())
    return found


def in_session(leader: int) -> list[int]:
    """The process ids of a session, also of those whose parents are gone."""
    return [pid for pid, stat in _all() if stat.session == leader]


def every() -> list[int]:
    """The ids of all processes that /proc lists."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def computes(pids: Iterable[int]) -> bool:
    """Whether a thread of these processes runs, is ready to, or waits for the disk."""
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                path = f"/proc/{pid}/task/{thread}/stat"
                with contextlib.suppress(OSError), open(path, "rb") as file:
                    if file.read().rpartition(b")")[2].split()[0] in (b"R", b"D"):
                        return True
    return False


def processor_seconds(pids: Iterable[int]) -> float:
    """What these processes took of processors, with those of their children that have ended."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / _TICKS_PER_S


def resident_bytes(pids: Iterable[int]) -> int:
    """Bytes of these processes, in memory and swapped out, with the tables of their pages.

    A shared page counts once for each process.
    """
    return status_bytes(pids, (b"VmRSS:", b"VmSwap:", b"VmPTE:", b"HugetlbPages:"))


def status_bytes(pids: Iterable[int], names: tuple[bytes, ...]) -> int:
    """The sum of these lines of the processes' ``/proc/PID/status``, in bytes."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"{alive(pid)}/status", "rb") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith(names)) << 10
    return total


def alive(pid: int) -> str:
    """Where /proc shows what a process holds: as a whole, or as a thread that outlives the first.

    Once the first thread of a process has ended, the process itself is shown as dead.
    """
    place = f"/proc/{pid}"
    if (stat := _stat(pid)) is not None and stat.state in "ZX":
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"{place}/task"):
                if int(thread) != pid:
                    return f"{place}/task/{thread}"
    return place


def hidden_bytes(pids: Iterable[int]) -> int:
    """Bytes of the anonymous files and pipes that these processes have open and this one has not.

    In :func:`resident_bytes` files show only where they are mapped, pipes nowhere. A pipe counts as
    what it can hold at most.
    """
    ours = dict(anonymous_files(os.getpid()))
    found = {inode: size for pid in pids for inode, size in anonymous_files(pid)}
    return sum(size for inode, size in found.items() if inode not in ours)


def anonymous_files(pid: int) -> Iterator[tuple[tuple[int, int], int]]:
    """Device and inode of each memfd and pipe that a process has open, and its size in memory."""
    with contextlib.suppress(OSError):
        for file in Path(alive(pid), "fd").iterdir():
            with contextlib.suppress(OSError):
                kind = str(file.readlink())
                if kind.startswith(("/memfd:", "pipe:")):
                    status = file.stat()
                    pipe = kind.startswith("pipe:")
                    size = PIPE_BYTES if pipe else status.st_blocks * _BLOCK_BYTES
                    yield (status.st_dev, status.st_ino), size


def sockets_bytes(pid: int) -> int:
    """The most that all sockets of this process's network namespace can hold, in bytes.

    Also those that nobody has open any more: in flight, or not accepted yet.
    """
    with contextlib.suppress(OSError), open(f"/proc/{pid}/net/sockstat", "rb") as file:
        return int(file.readline().split()[2]) * SOCKET_BYTES  # "sockets: used 3"
    return 0


def private_files_bytes(root: str, place: str) -> int:
    """Bytes in use of the file system in memory at ``place`` below another ``root``.

    0 if it is gone or not there yet, so that ``root`` shows what is at ``place`` here.
    """
    try:
        if Path(root + place).stat().st_dev == Path(place).stat().st_dev:
            return 0
        status = os.statvfs(root + place)
    except OSError:
        return 0
    files = (status.f_files - status.f_ffree) * _INODE_BYTES
    return (status.f_blocks - status.f_bfree) * status.f_frsize + files


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Signal each process that still exists."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def at_rest(pid: int, *, waiting: bool = False) -> bool:
    """Whether a process is stopped, dead or gone; ``waiting``: in the kernel will do, too."""
    stat = _stat(pid)
    if stat is not None and stat.state in "ZX":  # maybe its first thread alone
        stat = _stat_at(alive(pid))
    return stat is None or stat.state in ("TtZXD" if waiting else "TtZX")


def stop(
    find: Callable[[], list[int]], seconds: float, *, waiting: bool = False
) -> tuple[list[int], bool]:
    """Stop all processes that ``find`` returns; those signalled, and whether all have stopped.

    They have once the same processes were found stopped twice in a row: one may start another
    before it stops, and processes may continue each other. With ``waiting`` a signalled process
    that waits in the kernel counts as stopped: it will be, before it returns. One whose child was
    stopped between vfork and exec never returns.
    """
    stopped: dict[int, None] = {}
    at_rest_before: list[int] | None = None
    deadline = time.monotonic() + seconds
    all_stopped = False
    while not all_stopped and time.monotonic() < deadline:
        found = find()
        moving = [pid for pid in found if not at_rest(pid, waiting=waiting and pid in stopped)]
        if moving:
            send(moving, signal.SIGSTOP)
            stopped |= dict.fromkeys(moving)
            time.sleep(20e-6)
        all_stopped = found == at_rest_before
        at_rest_before = None if moving else found
    return list(stopped), all_stopped


def kill(pids: Iterable[int]) -> dict[int, int]:
    """Kill these processes; those that there were, by a handle (pidfd) of each."""
    handles: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            handles[os.pidfd_open(pid)] = pid
    send(handles.values(), signal.SIGKILL)
    return handles


def end(pids: Iterable[int], seconds: float) -> list[int]:
    """Kill these processes and wait; returns those that are not gone after ``seconds``."""
    handles = kill(pids)
    poller = select.poll()
    for handle in handles:
        poller.register(handle, select.POLLIN)
    deadline = time.monotonic() + seconds
    alive = dict(handles)
    while alive and (left := deadline - time.monotonic()) > 0:
        for handle, _ in poller.poll(left * 1000):
            poller.unregister(handle)
            del alive[handle]
    for handle in handles:
        os.close(handle)
    return list(alive.values())
