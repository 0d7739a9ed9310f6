"""What the audits see of every solution: a call alone and among others, probes, speed of light."""

import itertools
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks import ROOT
from benchmarks.throughput import SLUG
from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.progress.progress import NoProgress
from harness.solution.suffixes import SOURCES
from harness.timing import audit

Data = dict[str, Any]


def audits(names: Sequence[str]) -> Data:
    """What the audits see of every solution: a call alone and among others, probes, light."""
    shapes = ({"m": 256, "n": 256, "k": 256, "alpha": 0.01},)
    graded: list[Data] = []
    probes: list[tuple[float, float]] = []
    plain_fault = audit.IdleMonitor.fault

    def told(self: audit.IdleMonitor) -> object:
        if len(self.before) >= 3:
            probes.append((statistics.median(self.before), statistics.median(self.after)))
        return plain_fault(self)

    audit.IdleMonitor.fault = told  # type: ignore[assignment,method-assign]
    hostile = [
        f
        for f in sorted((ROOT / "tests/hostile/timing").glob("*.cu"))
        if f"problem: {SLUG}" in f.read_text()
    ]
    files = [(f, SLUG) for f in hostile] + [
        (f, f.parts[-3])
        for f in sorted((ROOT / "solutions").glob("*/samples/*"))
        if f.suffix in SOURCES
    ]
    if names:
        files = [(f, slug) for f, slug in files if slug in names or f.stem in names]
    print(
        "file | shape | alone/among | alone - among, µs | ± | of light | S | probes, µs | captured "
        "| looks"
    )
    device = open_device("cuda")
    with Grader(device, NoProgress()) as grader:
        overhead = grader.benchmark.trusted.overhead(None)
        assert overhead is not None
        print(f"null batch {overhead.batch_s * 1e6:.0f} µs, {overhead.idle}")
        for file, slug in files:
            problem = load_problem(ROOT / "problems" / slug)
            if file in hostile:
                problem = replace(problem, benchmarks=shapes)
            job = Job(path=file.name, solution=read_solution(file, problem=slug), problem=problem)
            probes.clear()
            start = time.perf_counter()
            result = grader.grade(job, Options(shrink_s=0.0))
            spent = time.perf_counter() - start
            print(f"{slug}/{file.name}: {result.verdict} {result.message[:150]} ({spent:.1f} s)")
            graded.append({"file": f"{slug}/{file.name}", "verdict": result.verdict, "s": spent})
            for m, seen in itertools.zip_longest(result.measurements, probes):
                early, late = seen or (math.nan, math.nan)
                if m is None:
                    print(f"   probes {early * 1e6:.0f} {late * 1e6:.0f}")
                    continue
                among = m.time_s.value
                alone = m.isolated_s.value if m.isolated_s else math.nan
                half = m.isolated_s.high - alone if m.isolated_s else math.nan
                print(
                    f"   {m.spec[:40]} | {among * 1e6:.1f} µs "
                    f"| {alone / among:.3f} | "
                    f"{(alone - among) * 1e6:+.1f} | {half * 1e6:.1f} "
                    f"| {m.sol_fraction or 0:.2f} | "
                    f"{m.sol_score or 0:.2f} | {early * 1e6:.0f} {late * 1e6:.0f} | {m.captured} | "
                    f"{m.overlap_looks}"
                )
    return {"graded": graded}
