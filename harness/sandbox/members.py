"""The processes of a sandbox that run submitted code, each known by a handle of its own."""

import contextlib
import os
import select

from harness.sandbox import processes


class Members:
    """All processes below a sandbox's monitor but its init, found and followed from outside.

    A walk through them is only made where something has changed: the numbers that the sandbox's own
    /proc lists, or a process that has ended. Numbers alone do not do: whoever ends and has another
    process take its number would never be seen, and signals would go to the dead.

    Args:
        monitor: the process that all of them are below.
    """

    def __init__(self, monitor: int) -> None:
        self.init = 0
        """The sandbox's process 1; 0 until it was found."""
        self._monitor = monitor
        self._handles: dict[int, int] = {}
        self._poller = select.poll()
        self._last_census: frozenset[str] | None = None

    def look(self) -> list[int]:
        """Their process ids now, parents before children."""
        census = self._census()
        if census is None or census != self._last_census or not self._holds_all(census):
            self._walk()
            self._last_census = census  # of before the walk: later ones show next time
        return list(self._handles)

    def _census(self) -> frozenset[str] | None:
        """The numbers that the sandbox's own /proc lists; None where that cannot be read yet."""
        with contextlib.suppress(OSError):
            if self.init:
                return frozenset(filter(str.isdigit, os.listdir(f"/proc/{self.init}/root/proc")))
        return None

    def _holds_all(self, census: frozenset[str]) -> bool:
        """Whether there is a handle of a living process for every number but that of init."""
        return len(census) == 1 + len(self._handles) and not self._poller.poll(0)

    def running(self) -> int:
        """How many of those that were found last have not ended."""
        return len(self._handles) - len(self._poller.poll(0))

    def close(self) -> None:
        """Give the handles back."""
        for handle in self._handles.values():
            self._poller.unregister(handle)
            os.close(handle)
        self._handles.clear()

    def _walk(self) -> None:
        """Find them anew: below the monitor, and in all of /proc where that gives a wrong number.

        All of /proc takes milliseconds on a busy host.
        """
        for find in (processes.family, processes.descendants):
            below = find(self._monitor)
            self.init = below[0] if below else 0
            if len(below) == len(self._census() or ()):
                break
        self.close()
        for pid in below[1:]:
            with contextlib.suppress(ProcessLookupError):
                self._handles[pid] = handle = os.pidfd_open(pid)
                self._poller.register(handle, select.POLLIN)
