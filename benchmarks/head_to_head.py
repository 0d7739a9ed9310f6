"""Two files held against each other, again and again: the same one, and one that is slower."""

import json
import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.repeatability import SLOWER, spin_problem, spins
from benchmarks.throughput import SLUG, modest
from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.progress.progress import NoProgress
from harness.records.comparison import Comparison

Data = dict[str, Any]


def aa(file: Path, times: int, device_kind: str) -> Data:
    """The same file as A and as B: how often the ratio is within 0.5 %, and no difference told."""
    problem = None
    if file.resolve().parts[-3] == SLUG:
        problem = Path(tempfile.mkdtemp()) / SLUG
        modest(problem)
    found = head_to_head(file, file, times, device_kind, problem)
    ratios = [one["ratio"] for one in found]
    near = sum(abs(math.log(ratio["value"])) <= 0.005 for ratio in ratios)
    same = sum(one["faster"] is None for one in found)
    covered = sum(ratio["low"] <= 1 <= ratio["high"] for ratio in ratios)
    logs = [math.log(ratio["value"]) for ratio in ratios]
    spread = statistics.stdev(logs) if len(logs) > 1 else math.nan
    print(
        f"A/A, {file.name}: within ±0.5 % in {near} of {len(found)}, no difference told in {same}"
    )
    print(f"1 is within the interval in {covered} of {len(found)}; σ of the log ratio {spread:.3%}")
    return {"file": file.name, "ratios": ratios, "within": near, "no_difference": same}


def slowdown(times: int, device_kind: str) -> Data:
    """A kernel against the same one made 1 % slower: how often that is told, and by how much."""
    folder = Path(tempfile.mkdtemp())
    plain, slower = spins(folder / "files")
    found = head_to_head(plain, slower, times, device_kind, problem=spin_problem(folder))
    told = sum(one["faster"] == "A" for one in found)
    ratios = [one["ratio"] for one in found]
    print(f"{SLOWER - 1:.0%} slower: told in {told} of {len(found)}")
    if ratios:
        values = [1 / ratio["value"] - 1 for ratio in ratios]
        print(f"said to be {statistics.median(values):+.2%} slower in the median")
    return {"factor": SLOWER, "ratios": ratios, "told": told}


def head_to_head(
    a: Path, b: Path, times: int, device_kind: str, problem: Path | None = None
) -> list[Data]:
    """``harness compare a b`` so many times, each with a seed of its own, in one process."""
    loaded = load_problem(problem or ROOT / "problems" / a.resolve().parts[-3])
    jobs = [
        Job(path=str(f), solution=read_solution(f, problem=loaded.slug), problem=loaded)
        for f in (a, b)
    ]
    found: list[Data] = []
    with Grader(open_device(device_kind), NoProgress()) as grader:
        for _ in range(times):
            outcome = grader.compare(jobs[0], jobs[1], Options())
            if isinstance(outcome, Comparison):
                told = json.loads(outcome.to_json())
                ratio = told["ratio"]
                found.append({"ratio": ratio, "faster": told["faster"]})
                print(f"A / B {ratio['value']:.4f}, {told['faster']}", file=sys.stderr)
            else:
                print(f"{outcome[0].verdict}: {outcome[0].message[:200]}", file=sys.stderr)
    return found
