"""One problem on the terminal and as JSON: nothing missing, nothing that a terminal interprets."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.markdown import Markdown

from harness.problem import model as roundoff
from harness.problem.dtypes import DTYPES, VARIABLE_TYPE
from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem, problem_folders
from harness.problem.grid import Grid
from harness.problem.package import Problem
from harness.report.problem import examples, problem_json, readable_maths, render_problem

ROOT = Path(__file__).parents[2]
PROBLEMS = ROOT / "problems"
SLUGS = [folder.name for folder in problem_folders(PROBLEMS)]


@pytest.fixture(scope="module")
def gemm() -> Problem:
    return load_problem(PROBLEMS / "gemm-multiply-leakyrelu")


def shown(problem: Problem, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    render_problem(problem, console)
    out = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(out, str)
    return out


def markdown(text: str) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(Markdown(readable_maths(text)))
    out = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(out, str)
    return " ".join(out.split())


def test_libraries_where_not_all_are_allowed(gemm: Problem) -> None:
    assert "Libraries" not in shown(gemm)
    assert json.loads(problem_json(gemm))["libraries"] is None
    some = replace(gemm, libraries=("cublasLt", "cutlass"))
    assert "Libraries in .cu files cublasLt, cutlass Tolerance" in " ".join(shown(some).split())
    assert json.loads(problem_json(some))["libraries"] == ["cublasLt", "cutlass"]
    none = " ".join(shown(replace(gemm, libraries=())).split())
    assert "Libraries in .cu files none Tolerance" in none


def test_what_a_contestant_must_know(gemm: Problem) -> None:
    out = shown(gemm)
    for words in (
        "GEMM + Element-wise Multiply + LeakyReLU Fusion",
        "gemm-multiply-leakyrelu · HARD · gemm",
        "A ∈ ℝ^(m × k)",
        "Oᵢⱼ = φ_α(Cᵢⱼ ∑ₚ₌₁ᵏ AᵢₚBₚⱼ), φ_α(x) = {x (x ≥ 0), αx (x < 0)",
        'extern "C" void solution(const VAR* matrix_a',
        "def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k): ...",
        "dense, row-major",
        "multiple of 256",
        "uniform, -1 to 2",
        "1 to 300",
        "0, 1, -0.5, 0.01, 1.75, 1e-30",
        "float32 (the default), float16, bfloat16",
        "u_acc · (16 · magnitude + 4 · √length · |expected|)",
        "+ 3 · (u_out · |expected| + 16 · smallest subnormal)",
        "length = k",
        "pytorch, compiled (the first is the measure)",
        "137 GFLOP",
        "256 MiB",
        "host memory 4 GiB",
    ):
        assert words in out
    rows = {line.split()[0]: line.split() for line in out.splitlines() if "e-" in line}
    assert rows["float16"] == ["float16", "float32", "4.8e-07", "float16", "4.9e-04"]
    assert rows["float32"][2] == "6.0e-08"


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("width", [40, 120])
def test_every_problem_can_be_shown(slug: str, width: int) -> None:
    problem = load_problem(PROBLEMS / slug)
    out = shown(problem, width)
    for parameter in problem.parameters:
        assert parameter.name in out or width == 40
    data = json.loads(problem_json(problem))
    assert [p["name"] for p in data["parameters"]] == [p.name for p in problem.parameters]
    assert data["complete"]
    assert data["statement"] == problem.statement
    assert data["signatures"]["python"].startswith("def solution(")
    assert len(data["benchmarks"]) == len(problem.benchmarks)
    assert all(shape["flops"] > 0 and shape["bytes"] > 0 for shape in data["benchmarks"])
    assert data["examples"] == examples(problem)
    assert (data["tolerance"] is None) == (problem.tolerance is None)
    assert set((data["tolerance"] or {"dtypes": ()})["dtypes"]) <= set(problem.dtypes)


@pytest.mark.parametrize("slug", [s for s in SLUGS if load_problem(PROBLEMS / s).tolerance])
def test_the_roundoffs_shown_are_those_of_the_tolerance(slug: str) -> None:
    import torch

    from harness.problem.case import whole_case
    from harness.problem.tolerance import allowed_error, weights_of

    problem = load_problem(PROBLEMS / slug)
    case = whole_case(problem, problem.cpu_benchmarks[0])
    told = json.loads(problem_json(problem))["tolerance"]
    expected, magnitude = 3.0, 5.0
    for dtype, row in told["dtypes"].items():
        for output in problem.outputs:
            if output.type != VARIABLE_TYPE:
                continue
            applied = allowed_error(
                weights_of(problem, case, output, dtype),
                torch.tensor([expected], dtype=torch.float64),
                torch.tensor([magnitude], dtype=torch.float64),
            )  # fmt: skip
            length = max(1.0, float(problem.tolerance.length.evaluate(case.values)))
            allowed = row["u_acc"] * (
                told["constant"] * magnitude + told["factor"] * math.sqrt(length) * expected
            )
            worst = min(roundoff.CUT_WORST, roundoff.CUT_SPREAD / math.sqrt(length))
            allowed += row["u_in"] * (worst * magnitude + roundoff.CUT_MEAN * expected)
            smallest = roundoff.SUBNORMALS * DTYPES[dtype].smallest
            allowed += told["roundings"] * (row["u_out"] * expected + smallest)
            assert float(applied[0]) == pytest.approx(allowed, rel=1e-9)


def test_the_constants_are_those_that_are_applied() -> None:
    from harness.problem import tolerance

    for name in ("TRUNCATION", "SUBNORMALS", "COMPLEX", "CUT_WORST", "CUT_SPREAD", "CUT_MEAN"):
        assert hasattr(roundoff, name)
        assert not hasattr(tolerance, name), "there is one of each"
    assert tolerance.model is roundoff


def test_the_term_for_cut_factors_is_shown_where_it_applies(gemm: Problem) -> None:
    assert gemm.tolerance is not None
    cut = replace(gemm, tolerance=replace(gemm.tolerance, inputs={"float32": "tf32"}))
    out = shown(cut)
    assert "u_in · (min(4, 16 / √length) · magnitude + 4 · |expected|)" in out
    assert "tf32" in out
    assert "u_in · " not in shown(gemm)


def test_a_problem_that_cannot_be_graded_yet(gemm: Problem) -> None:
    bare = replace(
        gemm, tolerance=None, flops=None, bytes=None, dtypes=(), baselines={}, benchmarks=(),
        cpu_benchmarks=(), missing=("no tolerance",),
        parameters=tuple(replace(p, shape=()) for p in gemm.parameters),
    )  # fmt: skip
    assert "cannot be graded yet: no tolerance" in shown(bare)
    assert json.loads(problem_json(bare))["tolerance"] is None


def test_nothing_hostile_reaches_the_terminal(gemm: Problem) -> None:
    hostile = replace(
        gemm,
        title="[red]\x1b]0;title\x07\u202etitle",
        difficulty="\x1b[31m",
        tags=("[bold]", "\x9b2J"),
        statement="a\x1b[2J b [red]c[/red] \u202e $x\x07$ [link](javascript:x)\n```\n\x1b[0m\n```",
        missing=("\x1b[1m",),
    )
    out = shown(hostile)
    assert not set(out) & set("\x1b\x07\x9b\u202e")
    assert "[red]c[/red]" in out
    assert "[bold]" in out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$a_i * b_j * c$ and *this*", "aᵢ * bⱼ * c and this"),
        (r"$\{x\,|\,x \ge 0\}$", "{x | x ≥ 0}"),
        ("$a\n+ b$", "a + b"),
        ("costs $5 and $6", "costs $5 and $6"),
        ("`$x_1$` stays", "$x_1$ stays"),
        ("$$\nx_1 + y_q\n$$", "x₁ + y_q"),
        ("$x_{*}$ and *this*, $_a_$", "x_* and this, _a_"),
        ("```\n$a_b$ $$\n```", "$a_b$ $$"),
        (r"$\|x\|_2$ elsewhere", "‖x‖₂"),
        ("| a | b |\n|---|---|\n| $\\|x\\|_1$ | $y_*$ |", "|x|₁ y_*"),
        ("$ not_maths_ here $", "$ not_maths_ here $"),
    ],
)
def test_maths_is_readable(text: str, expected: str) -> None:
    assert expected in markdown(text)


def test_sizes_of_every_kind(gemm: Problem) -> None:
    m, n, k = gemm.sizes
    group = replace(m, name="group", grid=Grid(every=2, rest=1), always=())
    narrow = replace(k, case_range=(Expression.parse("1"), Expression.parse("64")))
    odd = replace(n, low=-8, high=8, grid=Grid(every=4), always=(2**60,))
    tensors = (*gemm.tensors[:3], *gemm.scalars, replace(gemm.tensors[3], shape=()))
    problem = replace(
        gemm, parameters=(*tensors, m, odd, narrow), unpassed=(group,), cpu_benchmarks=(),
        benchmarks=tuple({**shape, "group": 3} for shape in gemm.benchmarks),
    )  # fmt: skip
    out = shown(problem, 200)
    for words in ("[]", "(not passed)", "odd numbers", "-8 to 8, multiples of 4", str(2**60)):
        assert words in out
    assert "(cases: 1 to 64)" in out
    data = json.loads(problem_json(problem))
    assert [size["name"] for size in data["sizes"]] == ["group"]
    assert "group" not in data["signatures"]["cuda"]
    bare = replace(gemm, parameters=(), missing=("no parameters",), benchmarks=())
    assert "def solution():" not in shown(replace(bare, cpu_benchmarks=()))
