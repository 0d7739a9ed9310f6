"""Processes that a test leaves behind."""

import os
import time

from harness.sandbox import processes
from harness.sandbox.zygote import zygote_processes

_GONE_S = 20.0


def left(before: set[int]) -> set[int]:
    """Processes below this one, beyond ``before`` and the templates, once dying ones had time."""
    deadline = time.monotonic() + _GONE_S
    while (
        found := set(processes.descendants(os.getpid())) - before - set(zygote_processes())
    ) and (time.monotonic() < deadline):
        time.sleep(0.02)
    return found
