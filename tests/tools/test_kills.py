"""Kills at random moments, through the script that does it two hundred times."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.corpus
def test_nothing_is_lost_or_left() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.kills", "--count", "8", "--jobs", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
