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
from pathlib import Path
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
from harness.records.measurement import Measurement
from harness.session.fault import Fault
from harness.solution.suffixes import SOURCES
from harness.timing import audit

Data = dict[str, Any]
_IN_A_ROW = 8
"""Calls of which one entry of the hostile corpus has a pair that overlaps."""


def audits(names: Sequence[str]) -> Data:
    """What the audits see of every solution: a call alone and among others, probes, light."""
    shapes = ({"m": 256, "n": 256, "k": 1024, "alpha": 0.01},)  # the corpus's
    graded: list[Data] = []
    probes, fell = _noted()
    print(
        "file | shape | alone/among | alone - among, µs | ± | of light | S | probes, µs | captured "
        "| looks"
    )
    device = open_device("cuda")
    with Grader(device, NoProgress()) as grader:
        overhead = grader.benchmark.trusted.overhead(None)
        assert overhead is not None
        print(f"null batch {overhead.batch_s * 1e6:.0f} µs, {overhead.idle}")
        for file, slug, hostile in _files(names):
            problem = load_problem(ROOT / "problems" / slug)
            if hostile:
                problem = replace(problem, benchmarks=shapes)
            job = Job(path=file.name, solution=read_solution(file, problem=slug), problem=problem)
            probes.clear()
            fell.clear()
            start = time.perf_counter()
            result = grader.grade(job, Options(shrink_s=0.0))
            spent = time.perf_counter() - start
            name = f"{slug}/{file.name}"
            print(f"{name}: {result.verdict} {result.message[:150]} ({spent:.1f} s)")
            eights = Counter(call % _IN_A_ROW for calls in fell for call in calls)
            counts = [eights[number] for number in range(_IN_A_ROW)]
            print(f"   looks that fell on calls 0 to {_IN_A_ROW - 1} of {_IN_A_ROW}: {counts}")
            graded.append(
                {"file": name, "verdict": result.verdict, "s": spent, "looks_fell_on": list(fell)}
            )
            for measured, seen in itertools.zip_longest(result.measurements, probes):
                print(_line(measured, seen or (math.nan, math.nan)))
    return {"graded": graded}


def _files(names: Sequence[str]) -> list[tuple[Path, str, bool]]:
    """The hostile files of one problem and all solutions, or those of ``names``.

    Each with its problem, and whether it is hostile.
    """
    files = [
        (f, SLUG, True)
        for f in sorted((ROOT / "tests/hostile/timing").glob("*.cu"))
        if f"problem: {SLUG}" in f.read_text()
    ]
    files += [
        (f, f.parts[-3], False)
        for f in sorted((ROOT / "solutions").glob("*/samples/*"))
        if f.suffix in SOURCES
    ]
    return [each for each in files if not names or each[1] in names or each[0].stem in names]


def _noted() -> tuple[list[tuple[float, float]], list[list[int]]]:
    """What the audits will have seen from now on.

    Of each program's batches the medians of how late probes were, before and after, in seconds; and
    of each batch that was looked at the numbers of the calls that the looks fell on.
    """
    probes: list[tuple[float, float]] = []
    fell: list[list[int]] = []
    plain_fault, plain_found = audit.IdleMonitor.fault, EarlyReads.found

    def fault(self: audit.IdleMonitor) -> Fault | None:
        if len(self.before) >= 3:
            probes.append((statistics.median(self.before), statistics.median(self.after)))
        return plain_fault(self)

    def found(self: EarlyReads) -> Found:
        fell.append(self._log[: int(self._count), 0].tolist())
        return plain_found(self)

    audit.IdleMonitor.fault = fault  # type: ignore[method-assign]
    EarlyReads.found = found  # type: ignore[method-assign]
    return probes, fell


def _line(measured: Measurement | None, probes: tuple[float, float]) -> str:
    """A shape's figures, or those of the probes alone where there are no times."""
    late = f"{probes[0] * 1e6:.0f} {probes[1] * 1e6:.0f}"
    if measured is None:
        return f"   probes {late}"
    among, isolated = measured.time_s.value, measured.isolated_s
    alone, high = (isolated.value, isolated.high) if isolated else (math.nan, math.nan)
    return (
        f"   {measured.spec[:40]} | {among * 1e6:.1f} µs "
        f"| {alone / among:.3f} | "
        f"{(alone - among) * 1e6:+.1f} | {(high - alone) * 1e6:.1f} "
        f"| {measured.sol_fraction or 0:.2f} | "
        f"{measured.sol_score or 0:.2f} | {late} | {measured.captured} | "
        f"{measured.overlap_looks}"
    )
