"""Which entry point a file has."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.languages import LANGUAGES
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.model import Problem
from harness.records.result import Verdict
from harness.solution.contract import AmbiguousError, Entry, c_entry, choose_entry, contract
from harness.solution.model import Artifact, BuildFailure, Solution, Target

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ('extern "C" void solution(int n) {}', Entry.SOLUTION),
        ('extern "C" void solve(int n) {}', Entry.SOLVE),
        ("void\nsolve (int n) {}", Entry.SOLVE),
        ("// no solution here\nvoid solve(int n) {}", Entry.SOLVE),
        ("/* solution */ void solve(int n) {}", Entry.SOLVE),
        ('const char* s = "solution"; void solve() {}', Entry.SOLVE),
        ("void solution_kernel() {} void solve() {}", Entry.SOLVE),
        ("void solve() {} void solution() {}", Entry.SOLUTION),
        ("// void solve() {}", Entry.SOLUTION),
        ("void solver() {}", Entry.SOLUTION),
        ("", Entry.SOLUTION),
    ],
)
def test_cuda(text: str, entry: Entry) -> None:
    assert c_entry(text) is entry


def test_solution_goes_first_and_others_stand_alone() -> None:
    assert choose_entry(["solve", "solution", "ModelNew"]) is Entry.SOLUTION
    assert choose_entry(["ModelNew", "other"]) is Entry.MODEL_NEW
    assert choose_entry(["other"]) is None
    with pytest.raises(AmbiguousError, match="defines solve and custom_kernel: keep one"):
        choose_entry(["custom_kernel", "solve"])


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("def solution(*_): pass\ndef custom_kernel(data): pass\n", Entry.SOLUTION),
        ("def solve(*_): pass\n", Entry.SOLVE),
        ("def custom_kernel(data): pass\n", Entry.CUSTOM_KERNEL),
        ("custom_kernel = print\n", Entry.CUSTOM_KERNEL),
        ("class ModelNew: pass\n", Entry.MODEL_NEW),
        ("from os import *\n", Entry.SOLUTION),
        ("from os import *\nclass ModelNew: pass\n", Entry.MODEL_NEW),
    ],
)
def test_python(tmp_path: Path, problem: Problem, text: str, entry: Entry) -> None:
    artifact = build(tmp_path, text, problem)
    assert isinstance(artifact, Artifact), artifact
    assert artifact.contract == contract(entry, problem)
    assert artifact.build.contract == entry
    assert artifact.contract.entry.returns is (entry in (Entry.CUSTOM_KERNEL, Entry.MODEL_NEW))


def test_several_are_an_error(tmp_path: Path, problem: Problem) -> None:
    failure = build(tmp_path, "def solve(*_): pass\nclass ModelNew: pass\n", problem)
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is Verdict.INVALID_SUBMISSION
    assert "defines solve and ModelNew: keep one, or call it solution" in failure.message


def build(folder: Path, text: str, problem: Problem) -> Artifact | BuildFailure:
    path = folder / "a.py"
    path.write_text(text)
    solution = read_solution(path)
    assert isinstance(solution, Solution)
    target = Target(kind="cpu", arch=None)
    return LANGUAGES[solution.language].build(solution, problem, "float32", target, Cache(folder))


def test_a_size_that_no_tensor_tells_is_a_scalar() -> None:
    problem = load_problem(ROOT / "problems/gemm-alpha-beta")
    told = dict(contract(Entry.CUSTOM_KERNEL, problem).parameters)
    assert {told[each.name] for each in problem.sizes} == {"size"}
    lone = replace(problem.sizes[0], name="groups")
    wider = replace(problem, parameters=(*problem.parameters, lone))
    assert dict(contract(Entry.CUSTOM_KERNEL, wider).parameters) == told | {"groups": "scalar"}
    names = [name for name, _ in contract(Entry.SOLVE, wider).parameters]
    assert names == [p.name for p in wider.parameters]
