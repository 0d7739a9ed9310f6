"""Time per call of each rung by the judge, and by other clocks in an honest process."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.ladder.judge import time_rung
from benchmarks.ladder.rungs import rungs
from benchmarks.ladder.table import bias, lines, summary
from harness.device.choose import open_device
from harness.errors import MachineError
from harness.grading.grader import Grader
from harness.progress.progress import NoProgress
from harness.timing.budget import budget_for

PATH = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]


def accuracy(device_kind: str = "cuda", wanted: Sequence[str] = ()) -> dict[str, Any]:
    """Time per call by the judge, and by three other clocks in an honest process.

    ``wanted`` are kinds of rungs, such as ``spin`` or ``gemm``; all without.
    """
    folder = Path(tempfile.mkdtemp())
    device = open_device(device_kind)
    budget = budget_for(device)
    rows, calls = [], []
    with Grader(device, NoProgress()) as grader:
        overhead = grader.benchmark.trusted.overhead(None)
        for rung in rungs(folder):
            if wanted and rung.kind not in wanted:
                continue
            try:
                row, call = time_rung(grader, device, rung, budget, overhead)
            except MachineError as error:
                print(f"{rung.name}: {str(error)[:300]}", file=sys.stderr)
                continue
            rows.append(row)
            calls.append(call)
            print(f"{rung.name}: {row['ours_s'] * 1e6:.2f} µs", file=sys.stderr)
    rows = [row | found for row, found in zip(rows, others(calls, folder), strict=True)]
    blank_s = overhead.batch_s if overhead else 0.0
    print(f"a null batch on small buffers: {blank_s * 1e6:.0f} µs")
    for line in (*lines(rows), *summary(rows)):
        print(line)
    return {"blank_s": blank_s, "rows": rows, "bias": bias(rows)}


def others(calls: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """What the other clocks say of each call; what is missing where their process ended early."""
    file = folder / "calls.json"
    file.write_text(json.dumps(calls))
    by_clocks, by_cupti = (honest(wanted, file, len(calls)) for wanted in ("clocks", "cupti"))
    return [one | other for one, other in zip(by_clocks, by_cupti, strict=True)]


def honest(wanted: str, file: Path, count: int) -> list[dict[str, Any]]:
    """What an honest process says of the calls in ``file``."""
    command = [sys.executable, "-P", str(ROOT / "benchmarks/ladder/honest.py"), wanted, str(file)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *PATH])}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ended = {"error": f"the honest process ended with status {done.returncode}"}
    return found + [ended] * (count - len(found))
