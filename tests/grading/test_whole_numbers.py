"""Whole numbers of every C type and sign, single elements, and sizes that are not passed.

From the front matter to submissions in three languages, on the CPU.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.result import Result, Verdict
from harness.solution.model import Solution
from harness.starter import STARTERS, starter_text

pytestmark = pytest.mark.corpus

NUMBERS = "n, k, shift, tiny, small, wide, u, huge, odd, power"
PROBLEM = """---
slug: signs
title: Whole numbers of every kind
sizes:
  - {name: groups, range: [1, 8]}
parameters:
  - {name: x, type: int64_t, pointer: true, const: true, shape: [groups, k],
     values: {distribution: uniform, low: -9, high: 9}}
  - {name: y, type: long long, pointer: true, const: false, shape: [groups, k]}
  - {name: total, type: long long, pointer: true, const: false, shape: []}
  - {name: n, type: int, pointer: false, equals: groups*k}
  - {name: k, type: size_t, pointer: false, range: [32, 256], multiple_of: 32}
  - {name: shift, type: int, pointer: false, range: [-8, 8], always: [0, -1]}
  - {name: tiny, type: int8_t, pointer: false, range: [-128, 127], always: [-128, 127]}
  - {name: small, type: short, pointer: false, range: [-32768, -2]}
  - {name: wide, type: long long, pointer: false, always: [-9223372036854775808],
     range: [-9223372036854775808, 9223372036854775807]}
  - {name: u, type: unsigned, pointer: false, range: [0, 4294967295], always: [4294967295]}
  - {name: huge, type: size_t, pointer: false, range: [0, 9223372036854775807],
     always: [9007199254740993, 9223372036854775807]}
  - {name: odd, type: int, pointer: false, range: [-9, 9], odd: true}
  - {name: power, type: int, pointer: false, range: [1, 1024], power_of_two: true}
cases: 3
"""
BENCHMARK = (
    "{groups: 2, k: 32, shift: -3, tiny: -100, small: -300, wide: -9223372036854775807, "
    "u: 4294967295, huge: 9223372036854775807, odd: -9, power: 64}"
)
MEASURES = f"""benchmarks: [{BENCHMARK}]
cpu_benchmarks: [{BENCHMARK}]
tolerance: {{length: 1}}
flops: n
bytes: 16*n
baselines: {{pytorch: baseline.py}}
"""
REFERENCE = f"""
def reference(groups, x, {NUMBERS}):
    assert n == groups * k and odd % 2 == 1 and power & (power - 1) == 0
    y = x * shift + tiny + small + (wide ^ huge) + u + odd * power
    return {{"y": y, "total": x.sum()}}
def magnitude(groups, x, {NUMBERS}):
    return {{"y": x.abs(), "total": x.abs().sum()}}
"""
PYTORCH = f"""
def solution(x, y, total, {NUMBERS}):
    y.copy_(x * shift + tiny + small + (wide ^ huge) + u + odd * power)
    total.copy_(x.sum())
"""
CUDA = """
#define NUMBERS int n, size_t k, int shift, int8_t tiny, short small, long long wide, unsigned u, \\
                size_t huge, int odd, int power
__global__ void all(const int64_t* x, long long* y, long long* total, NUMBERS) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * shift + tiny + small + (wide ^ (long long)huge) + u + odd * power;
  if (i > 0) return;
  long long sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j];
  *total = sum;
}
extern "C" void solution(const int64_t* x, long long* y, long long* total, NUMBERS) {
  all<<<(n + 255) / 256, 256>>>(x, y, total, n, k, shift, tiny, small, wide, u, huge, odd, power);
}
"""
TRITON = f"""
import triton
import triton.language as tl

@triton.jit
def all(x, y, total, {NUMBERS}, B: tl.constexpr):
    sums = tl.zeros((B,), dtype=tl.int64)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        tl.store(y + i, v * shift + tiny + small + (wide ^ huge) + u + odd * power, mask=i < n)
        sums += v
    tl.store(total, tl.sum(sums))

def solution(x, y, total, {NUMBERS}):
    all[(1,)](x, y, total, {NUMBERS}, B=64)
"""
SOURCES = {"cuda": CUDA, "triton": TRITON, "python": PYTORCH}


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    folder = tmp_path_factory.mktemp("problems") / "signs"
    folder.mkdir()
    (folder / "problem.md").write_text(f"{PROBLEM}{MEASURES}---\n\nText.\n")
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "baseline.py").write_text(PYTORCH)
    problem = load_problem(folder)
    assert problem.complete, problem.missing
    return problem


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader(open_device("cpu"), NoProgress()) as grader:
        yield grader


def grade(grader: Grader, problem: Problem, path: Path, **options: object) -> Result:
    solution = read_solution(path, problem=problem.slug)
    assert isinstance(solution, Solution), solution
    job = Job(path=str(path), solution=solution, problem=problem)
    return grader.grade(job, Options(timing=False, shrink_s=0, arch=None, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("language", SOURCES)
def test_every_number_arrives(
    grader: Grader, signs: Problem, tmp_path: Path, language: str
) -> None:
    path = tmp_path / STARTERS[language].file
    path.write_text(SOURCES[language])
    result = grade(grader, signs, path)
    assert result.verdict is Verdict.ACCEPTED, (result.message, result.output)
    assert result.dtype == "int64"
    path.write_text(SOURCES[language].replace("* shift", "* (shift * shift)"))
    result = grade(grader, signs, path)
    assert result.verdict is Verdict.WRONG_ANSWER
    assert "groups=" in str(result.reproduce)


@pytest.mark.parametrize("language", SOURCES)
def test_starters_build_run_and_are_wrong(
    grader: Grader, signs: Problem, tmp_path: Path, language: str
) -> None:
    path = tmp_path / STARTERS[language].file
    text = starter_text(signs, language, "check")
    assert "VAR" not in text
    for words in ("groups  not passed: 1 to 8", "k  size_t, 32 to 256, multiples of 32"):
        assert words in text
    path.write_text(text)
    result = grade(grader, signs, path)
    assert result.verdict is Verdict.WRONG_ANSWER, (result.verdict, result.message, result.output)
    assert "are wrong" in result.message, result.message
