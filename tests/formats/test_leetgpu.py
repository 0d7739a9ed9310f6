"""LeetGPU's contract: what solves a challenge is accepted, in Python and in CUDA C++."""

from pathlib import Path

import pytest
from formats.leetgpu_problems import ACCEPTED, ADDED, REFUSED, SCALE, checkout
from support.foreign import foreign, graded, written

from harness.formats.known import problems_in
from harness.grading.grader import Grader
from harness.problem.case import CaseLimits
from harness.records.result import Verdict

CUDA = """
__global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * a;
}
extern "C" void solve(float* x, float* y, float a, int n) {
  scale<<<(n + 63) / 64, 64>>>(x, y, a, n);
}
"""
"""Its types are not those of the signature: files for the site differ in them."""


@pytest.mark.corpus
def test_right_and_wrong_in_python_and_cuda(grader: Grader, tmp_path: Path) -> None:
    folder = checkout(tmp_path, "1_scale", SCALE)
    problem = foreign(folder)
    assert (problem.slug, problem.title) == ("leetgpu-1-scale", "Stand in")
    result = graded(grader, problem, written(tmp_path, "a.cu", CUDA), arch=None)
    assert result.accepted, result.message
    assert [each.spec for each in result.cases] == [f"test={n},sizes=cpu" for n in (2, 1, 3)]
    wrong = graded(
        grader, problem, written(tmp_path, "b.cu", CUDA.replace("* a;", "* (i < 299 ? a : 0);"))
    )
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert wrong.failed_case is not None
    assert wrong.failed_case.spec.startswith("test=3")
    absent = graded(grader, problem, written(tmp_path, "c.cu", CUDA.replace("solve", "other")))
    assert absent.verdict is Verdict.INVALID_SUBMISSION
    assert "solve" in absent.message


@pytest.mark.corpus
@pytest.mark.parametrize("name", ACCEPTED)
def test_every_solution_is_accepted(grader: Grader, tmp_path: Path, name: str) -> None:
    text, solution, claim = ACCEPTED[name]
    problem = foreign(checkout(tmp_path, name, text))
    result = graded(grader, problem, written(tmp_path, "a.py", solution))
    assert result.accepted, result.message
    assert claim in result.claims
    assert not any(each.startswith("reference") for each in result.claims)
    nothing = solution.partition(":")[0] + ": pass"
    result = graded(grader, problem, written(tmp_path, "b.py", nothing))
    assert result.verdict is Verdict.WRONG_ANSWER


@pytest.mark.corpus
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_graded_says_why(tmp_path: Path, name: str) -> None:
    text, reason = REFUSED[name]
    assert reason in foreign(checkout(tmp_path, name, text)).unfit(emulated=True)


@pytest.mark.corpus
def test_a_challenge_without_its_base_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "challenge.py", SCALE)
    assert "core/challenge_base.py" in foreign(path).unfit(emulated=True)


@pytest.mark.corpus
def test_a_seed_in_the_file_does_not_decide_inputs(tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path, "added", ADDED))
    (case,) = problem.draw_cases("s", dtype="float32", room=CaseLimits())
    x, total = problem.tensors_of(case, "float32")
    assert (x.zeroed, total.zeroed) == (False, True)
    inputs = problem.inputs()
    one, other = (inputs.draw(x, case, seed) for seed in "ab")
    assert not one.equal(other)
    assert one.equal(inputs.draw(x, case, "a"))


def test_checkouts_are_listed_by_reading(tmp_path: Path) -> None:
    for number in (10, 9):
        checkout(tmp_path, f"{number}_x", "raise SystemExit\n" + SCALE)
    found = list(problems_in(tmp_path))
    assert [source.slug for source in found] == ["leetgpu-9-x", "leetgpu-10-x"]
    assert {source.format for source in found} == {"leetgpu"}
    assert [file.name for file in found[0].files] == ["challenge.py", "core/challenge_base.py"]
