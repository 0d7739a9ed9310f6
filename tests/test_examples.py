"""Every example and every solution in this tree gets the verdict that its header promises.

A submission is data here: one of its first lines says which (:mod:`harness.verify.examples`). On a
GPU the same is a part of verifying a problem (tests/verify/test_verify.py).
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.device.cpu import CpuDevice
from harness.grading import case_selection as correctness
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.progress.progress import NoProgress
from harness.records.result import Result, Verdict
from harness.solution.suffixes import SOURCES
from harness.verify.examples import ExpectedVerdict, limited, read_header

ROOT = Path(__file__).parents[1]
PROBLEMS, SOLUTIONS = ROOT / "problems", ROOT / "solutions"
QUICK = PROBLEMS / "gemm-multiply-leakyrelu"
"""One file of each folder of this problem, which has one for every verdict, is graded in every run
of the tests; the others are the corpus."""

_INTERPRETED_WORK = 1e4
"""Operations that a case of what must be accepted may have at most, if an interpreter runs it."""


class Example(NamedTuple):
    """A file and what must become of it; None where nothing is said: it must be accepted."""

    path: Path
    wanted: ExpectedVerdict | None

    @property
    def slug(self) -> str:
        return self.path.relative_to(ROOT).parts[1]

    @property
    def verdicts(self) -> set[Verdict]:
        """What it may get on a CPU, where a solution may need what only GPUs have."""
        if self.wanted is None:
            return {Verdict.ACCEPTED, Verdict.NOT_EXECUTABLE_HERE}
        return {self.wanted.cpu}


def _below(*patterns: str) -> Iterator[Any]:
    quick: set[Path] = set()
    for pattern in patterns:
        for path in sorted(p for p in ROOT.glob(pattern) if p.suffix in SOURCES):
            example = Example(path, read_header(path.read_text(encoding="utf-8")))
            marks = [pytest.mark.nvcc] if path.suffix in (".cu", ".ptx") else []
            slow = path.parent in quick or path.parent.name.endswith("_limit")
            if slow or QUICK not in path.parents:
                marks.append(pytest.mark.corpus)
            quick.add(path.parent)
            yield pytest.param(example, id=str(path.relative_to(ROOT)), marks=marks)


EXAMPLES = list(_below("problems/*/examples/*/*"))
OTHERS = list(_below("problems/*/baselines/*", "solutions/*/*/*"))


@pytest.fixture(scope="module")
def grade() -> Iterator[Callable[[Example], Result]]:
    with Grader(CpuDevice(), NoProgress()) as grader:

        def grade(example: Example) -> Result:
            problem = load_problem(PROBLEMS / example.slug)
            solution = read_solution(example.path, problem=example.slug)
            verdict = example.wanted.cpu if example.wanted else Verdict.ACCEPTED
            name = str(example.path.relative_to(ROOT))
            job = Job(path=name, solution=solution, problem=limited(problem, verdict))
            # Compiling for a card takes most of the time, and decides few of the verdicts.
            compiled = verdict is Verdict.COMPILE_ERROR or SOLUTIONS in example.path.parents
            arch = "sm_90" if compiled else None
            with pytest.MonkeyPatch.context() as patch:
                if verdict is Verdict.ACCEPTED and example.path.suffix == ".py":
                    # What is right is as right in smaller cases, in a part of the time.
                    patch.setattr(correctness, "WORK", _INTERPRETED_WORK)
                return grader.grade(job, Options(timing=False, shrink_s=0.0, arch=arch))

        yield grade


@pytest.mark.parametrize("example", [*EXAMPLES, *OTHERS])
def test_on_a_cpu(grade: Callable[[Example], Result], example: Example) -> None:
    result = grade(example)
    told = f"{result.verdict}: {result.message}\n{result.output[-2000:]}"
    assert result.verdict in example.verdicts, told
    assert result.measurements == ()
    assert result.message or result.accepted
    assert str(ROOT / "harness") not in result.message  # nothing of ours in a traceback
    if result.verdict is Verdict.WRONG_ANSWER:
        assert result.failed_case is not None
        assert f"--case {result.failed_case.spec} " in result.reproduce.replace("'", "")


@pytest.mark.parametrize("example", [pytest.param(*p.values, id=p.id) for p in EXAMPLES])
def test_a_file_lies_in_the_folder_of_its_verdict(example: Example) -> None:
    assert example.wanted is not None, "no line says its verdict"
    folder = Verdict(example.path.parent.name.upper())
    assert folder in (example.wanted.cuda, example.wanted.cpu)


def test_there_is_an_example_of_every_verdict_that_a_submission_can_get() -> None:
    wanted = [parameter.values[0].wanted for parameter in EXAMPLES]
    verdicts = {w.cuda for w in wanted} | {w.cpu for w in wanted}
    assert verdicts == set(Verdict) - {Verdict.REJECTED, Verdict.INTERNAL_ERROR}
