"""Which recorded results stand for a file that is to be graded."""

from pathlib import Path
from typing import Any

import pytest
from support.samples import result

from harness.grading.job import Job
from harness.grading.resume import RecordedResults
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.records.refs import DeviceRef, ProblemRef, SolutionRef
from harness.records.result import Result, Verdict
from harness.solution.model import Invalid, Solution

CARD = DeviceRef(kind="cuda", name="a card")
PROBLEM = load_problem(Path(__file__).parents[1] / "support/packages/shift")


@pytest.fixture
def job(tmp_path: Path) -> Job:
    file = tmp_path / "mine.py"
    file.write_text("def solution(*_): ...\n")
    solution = read_solution(file, problem="shift", author="alice")
    return Job(path=str(file), solution=solution, problem=PROBLEM)


def _of(job: Job, **changes: object) -> Result:
    solution = job.solution
    assert isinstance(solution, Solution)
    about = SolutionRef(
        author="alice", name="mine", language="cuda", hash=solution.hash, path="elsewhere.py"
    )
    ref = ProblemRef(slug="shift", title="", hash=PROBLEM.hash)
    fields: dict[str, Any] = {"device": CARD, "solution": about, "harness": "1.9.0"} | changes
    fields["problem"], of = "shift", fields.get("problem", ref)
    return result(**fields).model_copy(update={"problem": of})


def test_one_result_stands_for_one_file(job: Job) -> None:
    recorded = RecordedResults([_of(job), _of(job)], CARD, "1.0.2")
    assert [recorded.take(job, "float32") for _ in range(3)] == [Verdict.ACCEPTED] * 2 + [None]


def test_a_mere_verdict_stands_for_another_one(job: Job) -> None:
    recorded = RecordedResults([_of(job, effort="verdict")], CARD, "1.0.2", rough=True)
    assert recorded.take(job, "float32") is Verdict.ACCEPTED


@pytest.mark.parametrize(
    "changes",
    [
        {"device": DeviceRef(kind="cuda", name="another card")},
        {"device": DeviceRef(kind="cpu", name="a card")},
        {"harness": "2.0.0"},
        {"dtype": "float16"},
        {"problem": ProblemRef(slug="shift", title="", hash="older")},
        {"verdict": Verdict.INTERNAL_ERROR, "message": "our fault", "measurements": (),
         "score": None},
        {"effort": "verdict"},
    ],
)  # fmt: skip
def test_a_result_of_another_grade_stands_for_nothing(job: Job, changes: dict[str, object]) -> None:
    assert RecordedResults([_of(job, **changes)], CARD, "1.0.2").take(job, "float32") is None


@pytest.mark.parametrize("field", ["author", "name", "hash"])
def test_a_result_of_another_file_stands_for_nothing(job: Job, field: str) -> None:
    one = _of(job)
    other = one.model_copy(update={"solution": one.solution.model_copy(update={field: "x"})})
    assert RecordedResults([other], CARD, "1.0.2").take(job, "float32") is None


def test_a_file_that_cannot_be_read_is_graded_again(job: Job) -> None:
    unreadable = Job(path=job.path, solution=Invalid("no UTF-8"), problem=PROBLEM)
    assert RecordedResults([_of(job)], CARD, "1.0.2").take(unreadable, "float32") is None
