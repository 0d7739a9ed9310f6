"""How long the CSV export and the site of a large store take, and how much memory they need.

Usage: ``python -m benchmarks.site_bench [RESULTS]``, 100,000 without a number. Makes up as many
results, each of an author of its own and all on one board, which is the hardest case; adds them to
a store in a temporary folder by the store's own interface (some minutes), and runs the two commands
in processes of their own. A record is about as large as one of a real grade: 4 shapes of 20 blocks,
40 correctness cases. ``SITE_BENCH_STORE`` names a file to keep the store in, or to take it from.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import ROOT
from harness.problem.format.load import load_problem
from harness.records.cases import CaseResult
from harness.records.measurement import Interval, Measurement, Score
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.result import Result, Verdict
from leaderboard.store import Store

SLUG = "vector-add"
SHAPES = 4
BLOCKS = 20
CASES = 40


def results(count: int) -> Iterator[Result]:
    """``count`` accepted results of as many authors, always the same."""
    chance = random.Random(1)
    problem = ProblemRef(slug=SLUG, title=SLUG, hash=load_problem(ROOT / "problems" / SLUG).hash)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(count):
        language = "cuda" if number % 3 else "triton"
        speedup = math.exp(chance.gauss(0.3, 0.5))
        laps = tuple(_lap(chance, shape, speedup) for shape in range(SHAPES))
        yield Result(
            id=f"{number:032x}",
            created=start + timedelta(minutes=number),
            problem=problem,
            solution=SolutionRef(
                author=f"author-{number}",
                name="kernel",
                language=language,
                hash=f"{number:064x}",
                path=f"solutions/{SLUG}/author-{number}/kernel.cu",
            ),
            language=language,
            dtype="float32",
            device=DeviceRef(kind="cuda", name="NVIDIA H100 80GB HBM3"),
            verdict=Verdict.ACCEPTED,
            seed=str(number),
            cases=tuple(
                CaseResult(spec=f"n={case}", passed=True, seconds=chance.random() * 1e-3)
                for case in range(CASES)
            ),
            measurements=laps,
            score=Score(
                baseline="pytorch",
                speedup=_interval(speedup, 0.004),
                time_s=1e-4 / speedup,
                ranked=number % 20 != 0,
                unranked_reason="" if number % 20 else "the interval is too wide",
            ),
            environment=Environment(harness="0.1.0", python="3.12.3", platform="Linux"),
        )


def _lap(chance: random.Random, shape: int, speedup: float) -> Measurement:
    baseline = 1e-4 * (shape + 1)
    time_s = baseline / speedup
    return Measurement(
        spec=f"n={1 << (20 + shape)}",
        time_s=_interval(time_s, 0.002),
        baseline_s=_interval(baseline, 0.002),
        speedup=_interval(speedup, 0.004),
        calls_per_batch=64,
        captured=True,
        launch_overhead_s=1.5e-4,
        samples_s=tuple(time_s * chance.gauss(1, 0.005) for _ in range(BLOCKS)),
        baseline_samples_s=tuple(baseline * chance.gauss(1, 0.005) for _ in range(BLOCKS)),
        flops=float(1 << (20 + shape)),
        bytes=12.0 * (1 << (20 + shape)),
        sol_time_s=baseline / 12,
    )


def _interval(value: float, relative: float) -> Interval:
    return Interval(value=value, low=value * math.exp(-relative), high=value * math.exp(relative))


def _timed(*arguments: str, store: Path) -> dict[str, float]:
    """Wall and CPU seconds and peak memory in MiB of one command."""
    command = [sys.executable, "-c", "from harness.cli import main; main()", *arguments]
    before = time.monotonic()
    process = subprocess.Popen(
        [*command, "--store", str(store), "--problems", str(ROOT / "problems")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{arguments[0]} failed")
    return {
        "seconds": time.monotonic() - before,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "mib": usage.ru_maxrss / 1024,
    }


def main() -> None:
    """Make the store, run both, print a line of JSON for each."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        place = Path(os.environ.get("SITE_BENCH_STORE") or f"{folder}/results.sqlite")
        if not place.exists():
            with Store.open(str(place)) as store:
                for result in results(count):
                    store.add(result)
        size = place.stat().st_size / 2**20
        print(json.dumps({"what": "store", "results": count, "mib": round(size)}), flush=True)
        commands = {
            "csv": ("leaderboard", "--all", "--csv", "-"),
            "site": ("site", "--all", "--out", f"{folder}/site"),
        }
        for name, arguments in commands.items():
            taken = _timed(*arguments, store=place)
            print(json.dumps({"what": name, **{k: round(v, 1) for k, v in taken.items()}}))
        files = [path for path in Path(folder, "site").rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 2**20
        print(json.dumps({"what": "files", "count": len(files), "mib": round(size, 1)}))


if __name__ == "__main__":
    main()
