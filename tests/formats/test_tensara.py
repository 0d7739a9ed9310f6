"""Tensara's contract: what solves a problem is accepted, in Python and in CUDA C++."""

import re
from pathlib import Path

import pytest
from formats.tensara_problems import ACCEPTED, ADD, LOWER, MISTAKEN, REFUSED, checkout
from support.foreign import foreign, graded, written

from harness.errors import ProblemError
from harness.formats.known import problems_in
from harness.grading.grader import Grader
from harness.problem.case import CaseLimits
from harness.records.result import Verdict

CUDA = """
__global__ void add(const float* a, const float* b, float* c, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
  add<<<(n + 63) / 64, 64>>>(a, b, c, n);
}
"""


@pytest.mark.corpus
def test_right_and_wrong_in_cuda(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path, "add-two", ADD))
    assert (problem.slug, problem.title) == ("tensara-add-two", "Stand in")
    result = graded(grader, problem, written(tmp_path, "a.cu", CUDA), arch=None)
    assert result.accepted, result.message
    specs = [each.spec for each in result.cases]
    assert specs[:2] == ["sample=1,sizes=cpu", "test=1,sizes=cpu"]
    assert "cases: 3 of 4 for the CPU" in result.claims
    assert any(each.startswith("sizes: divided by") for each in result.claims)
    wrong = graded(
        grader, problem, written(tmp_path, "b.cu", CUDA.replace("+ b[i];", "+ (i < 299) * b[i];"))
    )
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert wrong.failed_case is not None
    assert wrong.failed_case.spec.startswith("test=")


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
def test_a_check_of_its_own_decides(grader: Grader, tmp_path: Path) -> None:
    """What the tolerance alone would let pass: small numbers where there must be none."""
    problem = foreign(checkout(tmp_path, "lower", LOWER))
    text = "def solution(x, y, n): y[:] = x.tril() + x.triu(1) * {}\n"
    near = graded(grader, problem, written(tmp_path, "a.py", text.format("1e-6")))
    assert near.verdict is Verdict.WRONG_ANSWER
    assert "elements of y are wrong" in near.message
    exact = graded(grader, problem, written(tmp_path, "b.py", text.format("0")))
    assert exact.accepted, exact.message


@pytest.mark.corpus
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_graded_says_why(tmp_path: Path, name: str) -> None:
    text, reason = REFUSED[name]
    assert reason in foreign(checkout(tmp_path, name, text)).unfit(emulated=True)


@pytest.mark.corpus
@pytest.mark.parametrize("name", MISTAKEN)
def test_mistakes_have_a_place(tmp_path: Path, name: str) -> None:
    text, reason = MISTAKEN[name]
    with pytest.raises(ProblemError, match=re.escape(reason)):
        foreign(checkout(tmp_path, name, text)).unfit(emulated=True)


@pytest.mark.corpus
def test_sizes_are_its_own_on_a_card_and_nothing_is_drawn_for_that(tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path, "add", ADD))
    assert problem.unfit(emulated=False) == ""
    timed = problem.timed_cases(emulated=False)
    assert [case.sizes["n"] for case in timed] == [300, 1 << 22, 1 << 30]


@pytest.mark.corpus
def test_what_lies_in_the_hosts_memory_on_a_card_keeps_its_values(tmp_path: Path) -> None:
    text = ACCEPTED["greatest"][0]
    host = foreign(checkout(tmp_path, "greatest", text))
    for emulated, known in ((True, ["", ""]), (False, [(4, 5), (3, 4, 6)])):
        timed = host.timed_cases(emulated=emulated)
        found = [host.tensors_of(case, "float32")[2].on_host for case in timed]
        assert [tuple(bytes.fromhex(each)[::4]) if each else "" for each in found] == known
    plain = text.replace("dtype=torch.int32), len", "dtype=torch.int32, device='cuda'), len")
    there = foreign(checkout(tmp_path, "there", plain))
    (first, _) = there.timed_cases(emulated=False)
    assert there.tensors_of(first, "float32")[2].on_host == ""
    drawn = "torch.randint(1 << 30, (2,), dtype=torch.int32), len"
    moving = text.replace("torch.tensor(d['shape'], dtype=torch.int32), len", drawn)
    assert moving != text
    other = foreign(checkout(tmp_path, "other", moving))
    assert "shape in the host's memory has other values each time" in other.unfit(emulated=False)


@pytest.mark.corpus
def test_seeds_are_ours(tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path, "add", ADD))
    case = next(
        each
        for each in problem.draw_cases("s", dtype="float32", room=CaseLimits(work=1.0))
        if each.spec.startswith("test=1")
    )
    a, b, c = problem.tensors_of(case, "float32")
    assert (a.zeroed, b.zeroed, c.zeroed) == (False, False, True)
    inputs = problem.inputs()
    one, other = (inputs.draw(a, case, seed) for seed in "ab")
    assert not one.equal(other)
    assert one.equal(inputs.draw(a, case, "a"))


def test_checkouts_are_listed_by_reading(tmp_path: Path) -> None:
    for name in ("b", "a"):
        checkout(tmp_path, name, "raise SystemExit\n" + ADD)
    written(tmp_path, "other/def.py", "class Other:\n    pass\n")
    found = list(problems_in(tmp_path))
    assert [source.slug for source in found] == ["tensara-a", "tensara-b"]
    assert [file.name for file in found[0].files] == ["def.py"]
