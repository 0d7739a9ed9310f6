"""Processes of submissions that cannot be ended, because the kernel holds them: watched, named.

A driver that hangs keeps a killed process for as long as it likes. No grade waits for that: what is
left is looked at again whenever a sandbox ends and when the judge does, and results say so.
"""

import atexit
import os
import select
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.text.plain import printable

_END_SECONDS = 10.0
"""Time for killed processes to be gone; longer ones are stuck in the kernel, or it is slow."""
_SLOW_SECONDS = 60.0
"""Further time for those that are on their way out: thousands of sockets take a while to close."""
_LOOK_SECONDS = 0.1
_EXITING = 0x4
"""The kernel's PF_EXITING, in the flags of a process."""
_NAMED = 5
"""So many processes are named."""


class _Process(Protocol):
    def poll(self) -> int | None: ...


class _Group(NamedTuple):
    """What is left of one sandbox."""

    handles: dict[int, int]
    """Process ids by pidfd."""
    monitor: _Process
    folder: Path

    def gone(self, wait_s: float = 0.0) -> bool:
        """Whether all have ended within ``wait_s``; then the folder is wiped."""
        poller = select.poll()
        for handle in self.handles:
            poller.register(handle, select.POLLIN)
        for handle, _ in poller.poll(1000 * wait_s):
            del self.handles[handle]
            os.close(handle)
        if self.handles:
            return False
        self.monitor.poll()
        shutil.rmtree(self.folder, ignore_errors=True)
        return True


_lock = threading.Lock()
_left: list[_Group] = []
"""Global, since any grade may be disturbed by what any other has left."""


_later = ThreadPoolExecutor(1, "end")
_ends: list[Future[None]] = []


def later(wait: Callable[[], None]) -> None:
    """Have a thread ``wait`` until killed processes are gone; :func:`settle` waits for it."""
    _ends.append(_later.submit(wait))


def settle() -> None:
    """Wait until all that was killed is gone, or is known to be stuck."""
    for each in tuple(_ends):  # builders wait here, too
        try:
            each.result()
        finally:
            with suppress(ValueError):
                _ends.remove(each)


def end(killed: dict[int, int], monitor: _Process, folder: Path) -> bool:
    """Wait until processes that were killed are gone, and wipe the folder; False if some stay.

    ``killed`` are those of :func:`harness.sandbox.processes.kill`, whose handles are closed as they
    end. Those that stay are watched from then on. What was left before is looked at again.
    """
    group = _Group(killed, monitor, folder)
    soon = time.monotonic() + _END_SECONDS
    while not (gone := group.gone()):
        late_s = time.monotonic() - soon
        stuck = late_s > 0 and not any(map(_on_its_way, group.handles.values()))
        if stuck or late_s > _SLOW_SECONDS:
            break
        group.gone(_LOOK_SECONDS)
    with _lock:
        _left[:] = [each for each in (*_left, *([] if gone else [group])) if not each.gone()]
    return gone


def notes() -> tuple[str, ...]:
    """A sentence on the processes that are still there; none if all are gone."""
    with _lock:
        _left[:] = [group for group in _left if not group.gone()]
        pids = [pid for group in _left for pid in group.handles.values()]
    return (_sentence(pids),) if pids else ()


def _sentence(pids: Sequence[int]) -> str:
    named = ", ".join(map(_name, pids[:_NAMED])) + ", …" * (len(pids) > _NAMED)
    count = (
        f"{len(pids)} processes of submissions" if len(pids) > 1 else "a process of a submission"
    )
    return (
        f"{count} could not be ended ({named}): is the driver stuck? They may hold memory, or the "
        "card, until the machine is started again"
    )


def _name(pid: int) -> str:
    state = _stat(pid)[:1] or ["gone"]
    with suppress(OSError):
        comm = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
        return f"{printable(comm)} {pid}, state {state[0]}"
    return str(pid)


def _on_its_way(pid: int) -> bool:
    """Whether a killed process is ending, or only waits for a processor to do so."""
    stat = _stat(pid)
    return not stat or stat[0] != "D" or bool(int(stat[6]) & _EXITING)


def _stat(pid: int) -> list[str]:
    """The fields of ``/proc/<pid>/stat`` from the state on; none if it is gone."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return text.rpartition(")")[2].split()
    return []


@atexit.register
def _report() -> None:
    for note in notes():
        print(f"harness: {note}", file=sys.stderr)  # noqa: T201 - the last to be heard of it
