"""Cases in which one size is as large as in any benchmark."""

import pytest
from support.problem_texts import Write

from harness.problem.case import CaseLimits
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.sampling.coverage import coverage_cases

TEXT = """---
slug: covered
title: Covered
difficulty: EASY
parameters:
  - {name: x, type: "[VAR]", pointer: true, const: true, shape: [n, k], strides: [ld, 1]}
  - {name: y, type: "[VAR]", pointer: true, const: false, shape: [n]}
  - {name: n, type: size_t, pointer: false, range: [1, 100]}
  - {name: m, type: size_t, pointer: false, range: [2, 4096], multiple_of: 2}
  - {name: k, type: size_t, pointer: false, range: [1, "min(m, 4096)"]}
  - {name: ld, type: size_t, pointer: false, range: [k, k + 16]}
  - {name: s, type: float, pointer: false, values: {distribution: uniform, low: 1, high: 2}}
dtypes: [float32]
cases: 4
benchmarks:
  - {n: 64, m: 4096, k: 4096, ld: 4100, s: 1}
  - {n: 5000, m: 8, k: 8, ld: 8, s: 1}
cpu_benchmarks: [{n: 4, m: 4, k: 4, ld: 4, s: 1}]
tolerance: {length: k}
flops: 2 * n * k
bytes: 4 * n * k
baselines: {pytorch: baseline.py}
---
Covered.
"""


def sizes(problem: Problem, **room: float) -> list[tuple[int, ...]]:
    cases = coverage_cases(problem, "0", dtype="float32", room=CaseLimits(**room))  # type: ignore[arg-type]
    return [tuple(case.sizes.values()) for case in cases]


@pytest.fixture
def covered(write: Write) -> Problem:
    return load_problem(write(TEXT))


def test_each_size_is_once_as_large_as_in_any_benchmark(covered: Problem) -> None:
    # n, m, k, ld: what others allow is as large as it takes, the rest as small as can be.
    assert sizes(covered) == [(5000, 2, 1, 1), (1, 4096, 1, 1), (1, 4096, 4096, 4096),
                              (1, 4096, 4096, 4100)]  # fmt: skip


def test_what_is_too_much_is_as_large_as_there_is_room_for(covered: Problem) -> None:
    found = sizes(covered, work=3000)
    assert found[0] == (1185, 2, 1, 1)
    assert all(2 * n * k <= 3000 for n, _, k, _ in found)
    assert max(k for _, _, k, _ in found) > 1000
    assert sizes(covered, work=2e6, row_work=1000) == sizes(covered)


def test_without_benchmarks_there_is_none(write: Write) -> None:
    start, end = TEXT.index("benchmarks:"), TEXT.index("cpu_benchmarks")
    problem = load_problem(write(TEXT[:start] + TEXT[end:]))
    assert sizes(problem) == []


def test_they_belong_to_every_grade(gemm: Problem) -> None:
    cases = gemm.draw_cases("0", dtype="float32", room=CaseLimits(work=2e6, row_work=1000))
    drawn = [tuple(case.sizes.values()) for case in cases]
    assert {(8192, 1, 1), (1, 8192, 1), (1, 1, 16384)} <= set(drawn)
    assert len({case.spec for case in cases}) == len(cases)
