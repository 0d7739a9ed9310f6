"""Small problems of every kind, graded from end to end: right and wrong submissions of each.

A file says its verdict as those of the problems do, and in ``says:`` what the message must have.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.device.cpu import CpuDevice
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.solution.model import Solution

pytestmark = pytest.mark.corpus

PACKAGES = Path(__file__).parents[1] / "support/packages"
KINDS = ("rows", "rotate", "select", "counts")


def files() -> Iterator[object]:
    for kind in KINDS:
        for path in sorted((PACKAGES / kind).glob("examples/*/*.*")):
            if path.suffix in (".cu", ".py"):
                yield pytest.param(path, id=f"{kind}/{path.name}")


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader(CpuDevice(), NoProgress()) as one:
        yield one


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    return {kind: load_problem(PACKAGES / kind) for kind in KINDS}


@pytest.mark.parametrize("path", list(files()))
def test_the_verdict_is_the_files_own(
    grader: Grader, problems: dict[str, Problem], path: Path
) -> None:
    text = path.read_text()
    wanted = Verdict(path.parent.name.upper())
    assert f"verdict: {path.parent.name}\n" in text
    says = re.search(r"says: (.+)", text)
    problem = problems[path.parents[2].name]
    solution = read_solution(path, problem=problem.slug)
    assert isinstance(solution, Solution)
    for dtype in solution.dtypes or problem.dtypes:
        options = Options(timing=False, arch=None, shrink_s=0.0, dtype=dtype, seed="7")
        result = grader.grade(Job(path=str(path), solution=solution, problem=problem), options)
        assert result.verdict is wanted, (dtype, result.message, result.output)
        assert says is None or says[1].lower() in result.message.lower(), (dtype, result.message)
