"""Cases with whole numbers of every kind: signs, multiples, odd ones, powers of two."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.problem.case import Case, CaseLimits, parse_case
from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem
from harness.problem.grid import Grid
from harness.problem.model import Parameter
from harness.problem.package import Problem
from harness.problem.sampling.cases import draw_cases
from harness.problem.sizes import draw_size
from harness.problem.terms import Role

KINDS = """---
slug: kinds
title: Numbers of every kind
sizes:
  - {name: groups, range: [1, 8]}
parameters:
  - {name: x, type: float, pointer: true, const: true, shape: [groups, n]}
  - {name: y, type: float, pointer: true, const: false, shape: [groups, n]}
  - {name: n, type: int, pointer: false, range: [32, 4096], multiple_of: 32, always: [8192]}
  - {name: k, type: int, pointer: false, range: [1, n], case_range: [1, 64], always: [1, 1024]}
  - {name: radius, type: int, pointer: false, range: [1, 31], odd: true}
  - {name: length, type: int, pointer: false, range: [1, 1024], power_of_two: true}
  - {name: shift, type: int, pointer: false, range: [-8, 8], always: [0, -1]}
  - {name: below, type: int, pointer: false, range: [-9, -3]}
  - {name: wide, type: long long, pointer: false,
     range: [-9223372036854775808, 9223372036854775807]}
  - {name: rows, type: int, pointer: false, equals: 4*groups}
cases: 6
benchmarks: [{groups: 8, n: 65536, k: 4096, radius: 3, length: 64, shift: -3, below: -9, wide: 1}]
cpu_benchmarks: [{groups: 2, n: 32, k: 3, radius: 3, length: 64, shift: -3, below: -9, wide: 1}]
tolerance: {length: 1}
flops: groups*n
bytes: 8*groups*n
baselines: {pytorch: baseline.py}
---

Text.
"""


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "problem.md").write_text(KINDS)
    for name in ("reference.py", "baseline.py"):
        (folder / name).touch()
    return load_problem(folder)


def check(problem: Problem, case: Case) -> None:
    """Check that a case is one of the declared numbers."""
    v = case.sizes
    assert v["n"] % 32 == 0 < v["n"]
    assert 1 <= v["k"] <= v["n"]
    assert v["radius"] % 2 == 1
    assert 1 <= v["radius"] <= 31
    assert v["length"] in [2**i for i in range(11)]
    assert -8 <= v["shift"] <= 8
    assert -9 <= v["below"] <= -3
    assert -(2**63) <= v["wide"] < 2**63
    assert v["rows"] == 4 * v["groups"]
    assert parse_case(problem, case.spec) == case


@pytest.mark.corpus
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    work=st.sampled_from([None, 100.0, 5000.0]),
    size=st.sampled_from([None, 100_000]),
)
def test_every_case_has_declared_numbers(
    kinds: Problem, seed: int, work: float | None, size: int | None
) -> None:
    cases = draw_cases(kinds, f"{seed:x}", dtype="float32", room=CaseLimits(work=work, bytes=size))
    for case in cases:
        check(kinds, case)
        assert work is None or case.sizes["groups"] * case.sizes["n"] <= work
    tried = {(name, value) for case in cases for name, value in case.values.items()}
    assert {("shift", 0), ("shift", -1), ("k", 1)} <= tried
    if work is None and size is None:
        assert {("n", 8192), ("k", 1024)} <= tried
    # What is no part of a shape is not shrunk to make a case small.
    assert max(abs(case.sizes["wide"]) for case in cases) > 2**40
    assert sum(case.sizes["k"] > 64 for case in cases) <= 2, "only what tries 1024"


def test_all_numbers_of_a_kind_are_drawn(kinds: Problem) -> None:
    sizes = {p.name: p for p in kinds.sizes}
    source = random.Random(1)
    drawn = {
        name: {draw_size(sizes[name], {"n": 32}, source) for _ in range(2000)}
        for name in sizes
        if name != "rows"
    }
    assert drawn["length"] == {2**i for i in range(11)}
    assert drawn["radius"] == set(range(1, 32, 2))
    assert drawn["shift"] == set(range(-8, 9))
    assert drawn["below"] == set(range(-9, -2))
    assert {32, 4096} <= drawn["n"]
    assert max(drawn["wide"]) > 2**60
    assert min(drawn["wide"]) < -(2**60)


def test_powers_of_two_are_equally_frequent() -> None:
    size = Parameter(name="n", type="int", role=Role.SIZE, line=1, high=8, grid=Grid(powers=True))
    source = random.Random(1)
    drawn = [draw_size(size, {}, source) for _ in range(4000)]
    assert all(800 < drawn.count(2**i) < 1200 for i in range(4))


def test_a_case_range_that_depends_on_others() -> None:
    size = Parameter(
        name="k", type="int", role=Role.SIZE, line=1,
        lower=Expression.parse("1"), upper=Expression.parse("n"), high=100,
        case_range=(Expression.parse("n // 2"), Expression.parse("n + 5")),
    )  # fmt: skip
    source = random.Random(1)
    assert {draw_size(size, {"n": 10}, source) for _ in range(500)} == set(range(5, 11))
    assert draw_size(replace(size, grid=Grid(every=4)), {"n": 10}, source) == 8


@given(
    st.integers(-200, 200),
    st.sampled_from([Grid(), Grid(every=32), Grid(every=2, rest=1), Grid(every=6, rest=3)]),
)
def test_the_next_numbers_of_a_grid(value: int, grid: Grid) -> None:
    low, high = grid.at_most(value), grid.at_least(value)
    assert low <= value <= high
    assert low in grid
    assert high in grid
    assert not any(between in grid for between in range(low + 1, high) if between != value)
    assert grid.after(low) == min(x for x in range(low + 1, low + 40) if x in grid)


@given(st.integers(-20, 2000), st.sampled_from([1, 8]))
def test_the_next_powers_of_two(value: int, least: int) -> None:
    grid = Grid(every=least, powers=True)
    powers = [2**i for i in range(12) if 2**i >= least]
    assert grid.at_least(value) == min(p for p in powers if p >= value)
    assert grid.at_most(value) == max((p for p in powers if p <= value), default=0)
    assert (value in grid) == (value in powers)
