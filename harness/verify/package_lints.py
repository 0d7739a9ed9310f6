"""Warn where a package is right but weak: short benchmarks, missing values, few examples."""

from pathlib import Path

from harness.problem.format.load import STATEMENT_FILE
from harness.problem.model import Distribution, Problem
from harness.solution.suffixes import SOURCES
from harness.verify.findings import PackageReport

GPU_BYTES_PER_S = 3.35e12
GPU_FLOP_PER_S = 60e12
"""An H100's memory, and its float32 arithmetic outside matrix units, rounded down."""

SHORTEST_S = 5e-6
"""Seconds; shorter calls on a current GPU are lost in the launch overhead."""

MIN_WRONG = 3
"""Examples of wrong answers that a package should have."""


def check_strength(problem: Problem, solutions: Path | None, report: PackageReport) -> None:
    """Check benchmarks, scalars and examples; ``solutions`` is the folder of its solutions."""
    path = problem.folder / STATEMENT_FILE
    _check_benchmarks(problem, path, report)
    _check_scalars(problem, path, report)
    _check_examples(problem, solutions, report)


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
        if scalar.equals is not None:
            continue
        always = scalar.always
        lacking = []
        if _can_be(scalar.values, 0.0) and 0 not in always:
            lacking.append("0")
        if _can_be(scalar.values, 1.0) and 1 not in always:
            lacking.append("1")
        if _may_be_negative(scalar.values) and not any(value < 0 for value in always):
            lacking.append("a negative number")
        if lacking:
            report.warn(
                f"{path}:{scalar.line}",
                f"`always` of {scalar.name} lacks {', '.join(lacking)}",
                "kernels treat such values apart, or forget to",
            )


def _can_be(values: Distribution, value: float) -> bool:
    return values.kind == "normal" or values.a <= value <= values.b


def _may_be_negative(values: Distribution) -> bool:
    return values.kind == "normal" or values.a < 0


def _check_examples(problem: Problem, solutions: Path | None, report: PackageReport) -> None:
    examples = problem.folder / "examples"
    wrong = _files(examples / "wrong_answer")
    if len(wrong) < MIN_WRONG:
        report.warn(
            str(examples / "wrong_answer"),
            f"{len(wrong)} examples of wrong answers, fewer than {MIN_WRONG}",
            "add a submission for each mistake that the problem invites",
        )
    if not _files(examples / "accepted") and not (solutions and _files(solutions)):
        report.warn(
            str(examples / "accepted"),
            "no submission beside the baseline is accepted",
            "add one, so that the problem is known to be solvable",
        )


def _files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.suffix in SOURCES] if folder.is_dir() else []
