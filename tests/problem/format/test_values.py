"""Bounds of values that are expressions: read, checked at many sizes, drawn, moved along."""

from collections.abc import Iterator

import pytest
from support.problem_texts import Write

from harness.errors import ProblemError, UsageError
from harness.judge.shrink import shrink
from harness.problem.case import Case
from harness.problem.describe import values_of
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.sizes import as_received, to_single

BOUNDS = """---
slug: bounds
title: Bounds that follow from others
parameters:
  - {name: x, type: "[VAR]", pointer: true, const: true, shape: [n],
     values: {distribution: uniform, low: lo, high: hi}}
  - {name: bins, type: int, pointer: true, const: true, shape: [n],
     values: {distribution: uniform, low: 0, high: count - 1}}
  - {name: z, type: "[VAR]", pointer: true, const: true, shape: [n],
     values: {distribution: normal, mean: 2*lo, std: spread}}
  - {name: y, type: "[VAR]", pointer: true, const: false, shape: [n]}
  - {name: hi, type: float, pointer: false, always: [0, 3.5],
     values: {distribution: uniform, low: lo, high: lo + 4}}
  - {name: lo, type: float, pointer: false, always: [-4],
     values: {distribution: uniform, low: -4, high: 0}}
  - {name: spread, type: double, pointer: false,
     values: {distribution: normal, mean: hi - lo + 10, std: inverse}}
  - {name: inverse, type: double, pointer: false, equals: 1/n}
  - {name: n, type: int, pointer: false, range: [1, 50], always: [1, 33]}
  - {name: count, type: int, pointer: false, range: [1, 300], always: [256]}
dtypes: [float32, int32]
cases: 4
benchmarks:
  - {n: 1000, count: 5, lo: -1.1, hi: 2.9, spread: 1}
cpu_benchmarks:
  - {n: 10, count: 5, lo: -1, hi: 2, spread: 1}
tolerance: {length: 1}
flops: n
bytes: n
baselines: {pytorch: baseline.py}
---

Clip.
"""


@pytest.fixture
def bounds(write: Write) -> Problem:
    return load_problem(write(BOUNDS, "bounds"))


def messages(write: Write, text: str) -> list[str]:
    with pytest.raises(ProblemError) as caught:
        load_problem(write(text, "bounds"))
    return [f"{d.line}: {d.key}: {d.message}" for d in caught.value.diagnostics]


def grades(problem: Problem) -> Iterator[Case]:
    from harness.problem.case import CaseLimits

    for seed in range(20):
        yield from problem.draw_cases(f"{seed}", dtype="float32", room=CaseLimits())


def test_numbers_of_a_case(bounds: Problem) -> None:
    by_name = {p.name: p.values for p in bounds.parameters}
    case = bounds.parse_case("hi=1.5,lo=-2,spread=3,n=7,count=9")
    assert (by_name["x"].at(case.values).a, by_name["x"].at(case.values).b) == (-2, 1.5)
    assert (by_name["bins"].at(case.values).b, by_name["z"].at(case.values).a) == (8, -4)
    assert (by_name["x"].a, by_name["x"].b) == (-4, 4), "over all sizes and scalars"
    assert (by_name["bins"].a, by_name["bins"].b) == (0, 299)


def test_scalars_are_drawn_within_bounds_that_others_set(bounds: Problem) -> None:
    cases = list(grades(bounds))
    assert all(c.scalars["lo"] <= c.scalars["hi"] <= to_single(c.scalars["lo"] + 4) for c in cases)
    assert len({c.scalars["hi"] - c.scalars["lo"] for c in cases}) > 100
    for case in cases:
        assert bounds.parse_case(case.spec) == case


def test_always_values_are_tried_where_they_are_in_range(bounds: Problem) -> None:
    for seed in range(10):
        from harness.problem.case import CaseLimits

        cases = bounds.draw_cases(f"{seed}", dtype="float32", room=CaseLimits())
        assert {0.0, 3.5} <= {case.scalars["hi"] for case in cases}


def test_tensors_keep_to_the_bounds_of_their_case(bounds: Problem) -> None:
    inputs = bounds.inputs()
    for case in list(grades(bounds))[:100]:
        tensors = {t.name: t for t in bounds.tensors_of(case, "int32")}
        drawn = inputs.draw(tensors["bins"], case, "seed")
        assert 0 <= int(drawn.min()) <= int(drawn.max()) <= case.sizes["count"] - 1
        if case.family == "declared":
            x = inputs.draw(bounds.tensors_of(case, "float32")[0], case, "seed")
            assert case.scalars["lo"] <= float(x.min()) <= float(x.max()) <= case.scalars["hi"]


def test_bounds_between_whole_numbers_move_inwards(write: Write) -> None:
    text = BOUNDS.replace("low: 0, high: count - 1", "low: count/2, high: count/2 + 1.25")
    problem = load_problem(write(text, "bounds"))
    case = problem.parse_case("hi=0,lo=0,spread=1,n=50,count=5")
    (spec,) = (t for t in problem.tensors_of(case, "float32") if t.name == "bins")
    assert problem.inputs().draw(spec, case, "seed").unique().tolist() == [3]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hi=-3,lo=-2,spread=1,n=1,count=1", "hi must be from lo (-2) to lo + 4 (2), not -3"),
        ("hi=2.5,lo=-2,spread=1,n=1,count=1", "hi must be from lo (-2) to lo + 4 (2), not 2.5"),
    ],
)
def test_cases_given_by_hand_are_checked(bounds: Problem, spec: str, message: str) -> None:
    with pytest.raises(UsageError, match="case: ") as caught:
        bounds.parse_case(spec)
    assert str(caught.value) == f"case: {message}"


def test_benchmarks_are_checked(write: Write) -> None:
    text = BOUNDS.replace("lo: -1, hi: 2,", "lo: -1, hi: -2,")
    assert messages(write, text) == [
        "26: cpu_benchmarks[0]: hi must be from lo (-1) to lo + 4 (3), not -2"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "low: lo, high: hi}",
            "low: lo + 1, high: hi}",
            "6: parameters[0].values: there is no value: low is -3, and high -4, with lo=-4, hi=-4",
        ),
        (
            "type: int, pointer: true",
            "type: int8_t, pointer: true",
            "8: parameters[1].values: low is 0 and high 299, and int8_t holds numbers from -128 "
            "to 127, with count=300",
        ),
        (
            "type: int, pointer: true",
            "type: uint8_t, pointer: true",
            "8: parameters[1].values: low is 0 and high 299, and uint8_t holds numbers from 0 to "
            "255, with count=300",
        ),
        (
            "low: 0, high: count - 1",
            "low: -1, high: 5000000000",
            "8: parameters[1].values: low is -1 and high 5000000000, and int holds numbers from "
            "-2147483648 to 2147483647",
        ),
        (
            "low: 0, high: count - 1",
            "low: 0.2, high: 0.2 + count/1000",
            "8: parameters[1].values: there is no value: low is 1, and high 0, with count=1",
        ),
        (
            "low: 0, high: count - 1",
            "low: 0, high: counts - 1",
            "8: parameters[1].values: unknown size counts (did you mean count?)",
        ),
        (
            "low: 0, high: count - 1",
            "low: 0, high: x",
            "8: parameters[1].values: unknown size x (sizes: hi, lo, spread, inverse, n, count)",
        ),
        (
            "low: 0, high: count - 1",
            "low: 0, high: sizeof(VAR)",
            "8: parameters[1].values.high: sizeof(VAR) has no place in values",
        ),
        (
            "std: spread",
            "std: n - 1",
            "10: parameters[2].values: the standard deviation n - 1 is 0, not positive, with "
            "n=1, lo=-4",
        ),
        (
            "low: -4, high: 0}",
            "low: -4, high: hi}",
            "13: parameters[4].values: the bounds of hi depend on itself",
        ),
        (
            "always: [0, 3.5]",
            "always: [0, 5]",
            "12: parameters[4].always[1]: 5 is never in the range, which is -4 to 4 at most",
        ),
        (
            "low: lo, high: lo + 4",
            "low: lo, high: lo + 1e39",
            "13: parameters[4].values: -4 to 1e+39 is too large for a float, with lo=-4",
        ),
    ],
)
def test_mistakes_are_named_with_the_sizes_that_show_them(
    write: Write, old: str, new: str, message: str
) -> None:
    assert old in BOUNDS
    assert messages(write, BOUNDS.replace(old, new))[0] == message


def test_plain_expressions_are_numbers(write: Write) -> None:
    text = BOUNDS.replace("low: 0, high: count - 1", "low: -2**4, high: 2**10 - 1")
    values = load_problem(write(text, "bounds")).parameters[1].values
    assert (values.a, values.b, values.names) == (-16, 1023, frozenset())


def test_values_are_described_as_they_are_declared(bounds: Problem) -> None:
    words = {p.name: values_of(p) for p in bounds.parameters}
    assert words["bins"] == "uniform, 0 to count - 1"
    assert words["hi"] == "uniform, lo to lo + 4"
    assert words["z"] == "normal, mean 2*lo, standard deviation spread"


def test_shrinking_moves_scalars_along(bounds: Problem) -> None:
    start = bounds.parse_case("hi=2.7182817,lo=-1.234,spread=3,n=50,count=300")
    tried: list[Case] = []

    def fails(case: Case) -> bool:
        tried.append(case)
        return case.scalars["hi"] > case.scalars["lo"] + 1

    found = shrink(bounds, start, fails).case
    assert found.sizes == {"n": 1, "count": 1}
    assert found.scalars["hi"] > found.scalars["lo"] + 1
    for case in tried:
        hi = next(p for p in bounds.scalars if p.name == "hi")
        drawn = hi.values.at(case.values)
        assert as_received(hi, drawn.a) <= case.scalars["hi"] <= as_received(hi, drawn.b)
