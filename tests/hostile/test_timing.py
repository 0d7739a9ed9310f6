"""Submissions that try to buy time, and honest ones that look like them, timed on a GPU.

Each of ``timing/*.cu`` says in one of its first lines which verdict it must get. That what is
accepted has gained nothing shows in ``scripts/bench.py hostile``.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.grade import Grader
from harness.job import Job, Options
from harness.judge.device import open_device
from harness.problem.load import load_problem
from harness.report.progress import Silent
from harness.result import Verdict
from harness.solution.read import read_solution
from harness.verify.examples import header

FILES = sorted(Path(__file__).with_name("timing").glob("*.cu"))
PROBLEM = Path(__file__).parents[2] / "problems" / "gemm-multiply-leakyrelu"
SHAPES = ({"m": 256, "n": 256, "k": 256, "alpha": 0.01},)
"""Few blocks: where there is most to gain from running calls side by side."""


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader(open_device("cuda"), Silent()) as grader:
        yield grader


@pytest.mark.gpu
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_gets_its_verdict(grader: Grader, path: Path) -> None:
    wanted = header(path.read_text(encoding="utf-8"))
    assert wanted is not None
    problem = replace(load_problem(PROBLEM), benchmarks=SHAPES)
    solution = read_solution(path, problem=problem.slug)
    job = Job(path=path.name, solution=solution, problem=problem)
    result = grader.grade(job, Options(shrink_s=0.0))
    assert result.verdict is wanted.cuda, f"{result.verdict}: {result.message}"
    if result.verdict is Verdict.REJECTED:
        assert result.message
        assert result.failed_case is None


def test_there_is_one_of_each_kind() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    verdicts = {found.cuda for text in texts if (found := header(text)) is not None}
    assert verdicts == {Verdict.ACCEPTED, Verdict.REJECTED, Verdict.WRONG_ANSWER}
