"""Warn where a package is right but weak: short benchmarks, missing values, few examples."""

import math
from pathlib import Path

from harness.problem.model import STATEMENT_FILE
from harness.problem.package import Problem
from harness.verify.examples import files_below
from harness.verify.findings import PackageReport

GPU_BYTES_PER_S = 3.35e12
GPU_FLOP_PER_S = 60e12
"""An H100's memory, and its float32 arithmetic outside matrix units, rounded down."""

SHORTEST_S = 5e-6
"""Seconds; shorter calls on a current GPU are lost in the launch overhead."""

MIN_WRONG = 3
"""Examples of wrong answers that a package should have."""


def check_strength(problem: Problem, solutions: Path, report: PackageReport) -> None:
    """Check benchmarks, scalars and examples; ``solutions`` is the folder of its solutions."""
    path = problem.folder / STATEMENT_FILE
    _check_benchmarks(problem, path, report)
    _check_scalars(problem, path, report)
    examples = problem.folder / "examples"
    wrong = files_below(examples / "wrong_answer")
    if len(wrong) < MIN_WRONG:
        report.warn(
            str(examples / "wrong_answer"),
            f"{len(wrong)} examples of wrong answers, fewer than {MIN_WRONG}",
            "add a submission for each mistake that the problem invites",
        )
    if not files_below(examples / "accepted") and not files_below(solutions):
        report.warn(
            str(examples / "accepted"),
            "no submission beside the baseline is accepted",
            "add one, so that the problem is known to be solvable",
        )


def _check_benchmarks(problem: Problem, path: Path, report: PackageReport) -> None:
    if problem.flops is None or problem.bytes is None:
        return
    for dtype in problem.dtypes:
        for shape in problem.benchmarks:
            at_least = max(
                problem.evaluate(problem.bytes, shape, dtype) / GPU_BYTES_PER_S,
                problem.evaluate(problem.flops, shape, dtype) / GPU_FLOP_PER_S,
            )
            if at_least < SHORTEST_S:
                sizes = ", ".join(f"{name}={value:g}" for name, value in shape.items())
                report.warn(
                    f"{path}:1",
                    f"benchmark {sizes} is too small to time in {dtype}: a current GPU needs "
                    f"{at_least * 1e6:.2g} µs",
                    f"make it large enough for {SHORTEST_S * 1e6:g} µs",
                )


def _check_scalars(problem: Problem, path: Path, report: PackageReport) -> None:
    for scalar in problem.scalars:
        values, always = scalar.values, scalar.always
        normal = values.kind == "normal"
        low, high = (-math.inf, math.inf) if normal else (values.a, values.b)
        lacking = [str(n) for n in (0, 1) if low <= n <= high and n not in always]
        if low < 0 <= high and not any(value < 0 for value in always):
            lacking.append("a negative number")
        if lacking and scalar.equals is None:
            report.warn(
                f"{path}:{scalar.line}",
                f"`always` of {scalar.name} lacks {', '.join(lacking)}",
                "kernels treat such values apart, or forget to",
            )
