"""The command line as a process of its own, on small disks, too."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAIN = "from harness.cli import main; main()"


def words(*arguments: object) -> str:
    """``harness ARGUMENTS`` as a shell's words."""
    return shlex.join([sys.executable, "-c", MAIN, *map(str, arguments)])


def in_shell(
    script: str, folder: Path, *, mounts: bool = False, variables: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """The end of bash's ``script`` in ``folder``, where it may mount if ``mounts``."""
    if mounts and not can_mount():
        pytest.skip("no file systems can be mounted here")
    return subprocess.run(
        [*(["unshare", "-m"] if mounts else []), "bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


@cache
def can_mount() -> bool:
    """Whether a test may have file systems of its own."""
    tried = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    try:
        done = subprocess.run(tried, capture_output=True, check=False, timeout=30)
    except OSError:
        return False
    return done.returncode == 0
