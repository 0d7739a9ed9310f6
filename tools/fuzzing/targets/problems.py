"""Packages of problems: front matter, cases, formulas."""

import yaml  # noqa: F401 - here, so that it is instrumented

from harness.errors import ProblemError, UsageError
from harness.problem.case import parse_case
from harness.problem.expressions import Expression, ExpressionError
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from tools.fuzzing.targets.target import PROBLEMS, Target, decoded, sample, scratch


def read_problem(data: bytes) -> None:
    """A problem file: a Problem, or complaints that name lines of it."""
    folder = scratch() / "problem"
    folder.mkdir(exist_ok=True)
    path = folder / "problem.md"
    path.write_bytes(data)
    try:
        problem = load_problem(folder)
    except ProblemError as error:
        assert error.diagnostics
        lines = data.count(b"\n") + data.count(b"\r") + 1
        for each in error.diagnostics:
            assert each.path == path
            assert 1 <= each.line <= lines + 1, f"line {each.line} of {lines}"
            assert each.message
    else:
        assert problem.slug
        assert problem.parameters is not None


def read_case(data: bytes) -> None:
    """A case's spec: a Case that its own spec names again, or a UsageError."""
    problem = _CASE_PROBLEMS[data[0] % len(_CASE_PROBLEMS)] if data else _CASE_PROBLEMS[0]
    try:
        case = parse_case(problem, decoded(data[1:]))
    except UsageError as error:
        assert str(error)
    else:
        assert parse_case(problem, case.spec) == case


def read_expression(data: bytes) -> None:
    """A formula of a problem file: a bounded number or an ExpressionError."""
    try:
        value = Expression.parse(decoded(data)).evaluate({"m": 33, "n": 1, "sizeof(VAR)": 4})
    except ExpressionError as error:
        assert str(error)
    else:
        assert abs(value) <= 2**200


def _case_problems() -> tuple[Problem, ...]:
    return tuple(load_problem(PROBLEMS / slug) for slug in ("gemm-alpha-beta", "row-reduction"))


_CASE_PROBLEMS = _case_problems()

TARGETS = (
    Target(
        name="problem",
        run=read_problem,
        seeds=(
            sample("problem.md"),
            sample("other.md"),
            sample("problem.md").replace(b".py", b"x" * 300 + b".py"),
            sample("problem.md").replace(b"tags:", b"more: &a\n- *a\n" * 40 + b"tags:"),
            b"---\nslug: x\n" + b"".join(b"key%d: [1, 2]\n" % n for n in range(400)) + b"---\n",
            b"---\nslug: " + b"[" * 300 + b"\n---\n",
            b"---\nflops: " + b"(" * 3000 + b"n\n---\n",
        ),
        words=(
            "slug:",
            "parameters:",
            "shape: [m, n]",
            "range: [1, 9]",
            "equals: m*n",
            "---\n",
            "&a",
            "*a",
            "<<:",
            "!!python/object",
            "alignment:",
            "strides:",
            "tolerance:",
            "sizeof(VAR)",
            "baselines: {a: ../../a.py}",
            "x" * 300 + ".py",
            "{a: {a: {a: ",
            "\x00",
        ),
        most=8192,
    ),
    Target(
        name="case",
        run=read_case,
        seeds=(
            b"\x00m=33,n=1,k=7,ld_a=8,ld_b=2,ld_c=3,alpha=-0.5,beta=0",
            b"\x00m=3,n=1,k=7,ld_a=7,ld_b=1,ld_c=1,alpha=1e-3,beta=1,values=nan",
            b"\x01m=4,n=5,values=large",
            b"\x01m=1",
        ),
        words=("values=", "alpha=", "beta=", "ld_a=", "ld_b=", "scale=", "1e400", "nan", "1_0"),
        most=512,
    ),
    Target(
        name="expression",
        run=read_expression,
        seeds=(b"2*m*n + 3*m", b"sizeof(VAR)*(m*n)", b"min(m, 2)**0.5 // 3 % n", b"log2(-m)"),
        words=("min(", "max(", "ceil(", "floor(", "sqrt(", "**", "//", "1e308", "log2(", "abs("),
        most=600,
    ),
)
