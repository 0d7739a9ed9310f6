"""The end of a judge's process: what it has started ends with it."""

import os

from harness.sandbox import processes, scratch

_SECONDS = 5.0
"""The time that killed processes may take to be gone."""


def end_children() -> None:
    """End what this process has started; remove its folder for temporary files."""
    processes.end(processes.descendants(os.getpid()), _SECONDS)
    scratch.remove_own()
