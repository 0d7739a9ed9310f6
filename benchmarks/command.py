"""The command as people run it, and what its figures depend on."""

import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from benchmarks import ROOT

HARNESS = (sys.executable, "-c", "from harness.cli import main; main()")
"""The command, however it is installed."""


def harness(*arguments: str) -> tuple[float, list[dict[str, Any]]]:
    """Run the command; seconds and the results it printed."""
    start = time.perf_counter()
    command = [*HARNESS, *arguments, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    seconds = time.perf_counter() - start
    if done.returncode > 1:
        print(done.stderr, file=sys.stderr)
    return seconds, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def until_first(*arguments: str) -> tuple[float, float]:
    """Run the command; seconds until it says its first result, and until it ends.

    Raises:
        SystemExit: it says none.
    """
    start = time.perf_counter()
    command = [*HARNESS, *arguments, "--json", "-"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as running:
        assert running.stdout is not None
        said = [time.perf_counter() - start for line in running.stdout if line.startswith("{")]
    if not said:
        raise SystemExit(f"no result of harness {' '.join(arguments)}")
    return said[0], time.perf_counter() - start


def where() -> dict[str, Any]:
    """What a figure depends on: date, card, driver, versions."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        said = ""
    card, _, driver = (said.splitlines() or [""])[0].partition(", ")
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "card": card,
        "driver": driver,
        "torch": metadata.version("torch"),
        "triton": metadata.version("triton"),
    }
