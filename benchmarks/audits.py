"""What the audits see of every solution: a call alone and among others, probes, speed of light.

And which calls the looks for overlap fell on: at random moments on each of eight in a row alike.
"""

import itertools
import math
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks import ROOT
from benchmarks.throughput import SLUG
from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.judge.early_reads import EarlyReads, Found
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.progress.progress import NoProgress
from harness.solution.suffixes import SOURCES
from harness.timing import audit

Data = dict[str, Any]
_IN_A_ROW = 8
"""Calls of which one entry of the hostile corpus has a pair that overlaps."""


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
    fell: list[list[int]] = []
    plain_found = EarlyReads.found

    def found(self: EarlyReads) -> Found:
        fell.append(self._log[: int(self._count), 0].tolist())
        return plain_found(self)

    EarlyReads.found = found  # type: ignore[method-assign]
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
            fell.clear()
            start = time.perf_counter()
            result = grader.grade(job, Options(shrink_s=0.0))
            spent = time.perf_counter() - start
            print(f"{slug}/{file.name}: {result.verdict} {result.message[:150]} ({spent:.1f} s)")
            eights = Counter(call % _IN_A_ROW for calls in fell for call in calls)
            counts = [eights[number] for number in range(_IN_A_ROW)]
            print(f"   looks that fell on calls 0 to {_IN_A_ROW - 1} of {_IN_A_ROW}: {counts}")
            told_of = {"file": f"{slug}/{file.name}", "verdict": result.verdict, "s": spent}
            graded.append(told_of | {"looks_fell_on": [list(calls) for calls in fell]})
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
