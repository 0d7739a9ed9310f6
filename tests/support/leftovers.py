"""Processes that a test leaves behind."""

import os
import time

from harness.sandbox import processes, zygote

_GONE_S = 20.0


def zygote_processes() -> list[int]:
    """Process ids of the zygotes, which run as long as the judge does."""
    return [each.pid for each in list(zygote._zygotes.values())]


def left(before: set[int]) -> set[int]:
    """Processes below this one, beyond ``before`` and the zygotes, once dying ones had time."""
    deadline = time.monotonic() + _GONE_S
    while (
        found := set(processes.descendants(os.getpid())) - before - set(zygote_processes())
    ) and (time.monotonic() < deadline):
        time.sleep(0.02)
    return found
