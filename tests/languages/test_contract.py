"""Which entry point a file has."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.languages import LANGUAGES
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.result import Verdict
from harness.solution.contract import AmbiguousError, EntryPoint, c_entry, choose_entry, contract
from harness.solution.model import Artifact, BuildFailure, Solution, Target

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ('extern "C" void solution(int n) {}', EntryPoint.SOLUTION),
        ('extern "C" void solve(int n) {}', EntryPoint.SOLVE),
        ("void\nsolve (int n) {}", EntryPoint.SOLVE),
        ("// no solution here\nvoid solve(int n) {}", EntryPoint.SOLVE),
        ("/* solution */ void solve(int n) {}", EntryPoint.SOLVE),
        ("/* https://a.b/c */ void solve(int n) {}", EntryPoint.SOLVE),
        ('const char* s = "solution"; void solve() {}', EntryPoint.SOLVE),
        ("void solution_kernel() {} void solve() {}", EntryPoint.SOLVE),
        ("void solve() {} void solution() {}", EntryPoint.SOLUTION),
        ("// void solve() {}", EntryPoint.SOLUTION),
        ("void solver() {}", EntryPoint.SOLUTION),
        ("", EntryPoint.SOLUTION),
    ],
)
def test_the_entry_point_of_cuda(text: str, entry: EntryPoint) -> None:
    assert c_entry(text) is entry


def test_solution_goes_first_and_two_others_are_ambiguous() -> None:
    assert choose_entry(["solve", "solution", "ModelNew"]) is EntryPoint.SOLUTION
    assert choose_entry(["ModelNew", "other"]) is EntryPoint.MODEL_NEW
    assert choose_entry(["other"]) is None
    with pytest.raises(AmbiguousError, match="defines solve and custom_kernel: keep one"):
        choose_entry(["custom_kernel", "solve"])


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("def solution(*_): pass\ndef custom_kernel(data): pass\n", EntryPoint.SOLUTION),
        ("def solve(*_): pass\n", EntryPoint.SOLVE),
        ("def custom_kernel(data): pass\n", EntryPoint.CUSTOM_KERNEL),
        ("custom_kernel = print\n", EntryPoint.CUSTOM_KERNEL),
        ("class ModelNew: pass\n", EntryPoint.MODEL_NEW),
        ("from os import *\n", EntryPoint.SOLUTION),
        ("from os import *\nclass ModelNew: pass\n", EntryPoint.MODEL_NEW),
    ],
)
def test_the_entry_point_of_python(
    tmp_path: Path, problem: Problem, text: str, entry: EntryPoint
) -> None:
    artifact = build(tmp_path, text, problem)
    assert isinstance(artifact, Artifact), artifact
    assert artifact.contract == contract(entry, problem)
    assert artifact.build.contract == entry
    assert artifact.contract.entry.returns is (
        entry in (EntryPoint.CUSTOM_KERNEL, EntryPoint.MODEL_NEW)
    )


def test_several_entry_points_are_an_error(tmp_path: Path, problem: Problem) -> None:
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


def test_a_size_in_no_shape_is_a_scalar() -> None:
    problem = load_problem(ROOT / "problems/gemm-alpha-beta")
    kinds = dict(contract(EntryPoint.CUSTOM_KERNEL, problem).parameters)
    assert {kinds[each.name] for each in problem.sizes} == {"size"}
    lone = replace(problem.sizes[0], name="groups")
    wider = replace(problem, parameters=(*problem.parameters, lone))
    kinds["groups"] = "scalar"
    assert dict(contract(EntryPoint.CUSTOM_KERNEL, wider).parameters) == kinds
    names = [name for name, _ in contract(EntryPoint.SOLVE, wider).parameters]
    assert names == [p.name for p in wider.parameters]
