"""Processes found from outside, whatever their namespace numbers them: by a telling argument."""

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_count = itertools.count(os.getpid() * 1000 + 1)
SOON_S = 30.0


def running(argument: str) -> list[int]:
    """Processes, dead ones aside, that were started with ``argument``."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and argument.encode() in _words(entry):
            found.append(int(entry))
    return found


def _words(pid: str) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")  # empty for the dead
    except OSError:
        return []


class Nap:
    """An argument for ``sleep`` that no other process has: about a minute."""

    def __init__(self) -> None:
        self._seconds = f"61.{next(_count):010}"

    def __str__(self) -> str:
        return self._seconds

    def sleeping(self) -> int:
        """How many processes sleep so long."""
        return len(running(self._seconds))

    def appeared(self) -> bool:
        """Whether one comes up soon."""
        return until(lambda: self.sleeping() > 0)

    def gone(self) -> bool:
        """Whether all of them end soon."""
        return until(lambda: self.sleeping() == 0)

    @contextmanager
    def seen(self, count: int) -> Iterator[None]:
        """Fails if there were never ``count`` of them at a time during the block.

        Without this a test that looks for leftovers would pass if nothing was ever started.
        """
        most, over = 0, threading.Event()

        def watch() -> None:
            nonlocal most
            while not over.wait(0.02):
                most = max(most, self.sleeping())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
        assert most >= count, f"{most} processes came up, not {count}"


def until(condition: Callable[[], bool], seconds: float = SOON_S) -> bool:
    """Whether ``condition()`` becomes true within ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
