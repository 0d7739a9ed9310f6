"""Sizes that depend on each other, and tensors with gaps."""

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.problem_texts import span

from harness.problem.expressions import Expression, ExpressionError
from harness.problem.model import Parameter
from harness.problem.sizes import (
    bounds,
    check_tensor,
    completed,
    draw_size,
    in_order,
    points,
)
from harness.problem.terms import Role

SIZE = Parameter(name="n", type="int", role=Role.SIZE, line=1, high=9)
SCALE = Parameter(
    name="scale", type="float", role=Role.SCALAR, line=1, equals=Expression.parse("0.1*twice")
)
DEPENDENT = replace(SIZE, name="ld", lower=Expression.parse("n"), upper=Expression.parse("n + 16"))
TWICE = replace(SIZE, name="twice", equals=Expression.parse("2*ld"))
ALL = (SCALE, TWICE, DEPENDENT, SIZE)


def matrix(shape: list[str], strides: list[str]) -> Parameter:
    return Parameter(
        name="x",
        type="[VAR]",
        role=Role.TENSOR,
        line=1,
        shape=tuple(map(Expression.parse, shape)),
        strides=tuple(map(Expression.parse, strides)),
    )


def test_order_and_values() -> None:
    assert [p.name for p in in_order(ALL)] == ["n", "ld", "twice", "scale"]
    values = completed(ALL, {"n": 5, "ld": 7})
    assert list(values) == ["scale", "twice", "ld", "n"]
    assert values["twice"] == 14
    assert values["scale"] == 1.399999976158142, "rounded to float"


def test_circles_have_no_order() -> None:
    with pytest.raises(ExpressionError, match="n, ld depend on each other"):
        in_order((replace(SIZE, lower=Expression.parse("ld")), DEPENDENT))


@pytest.mark.parametrize("ld", [4, 22])
def test_out_of_range(ld: int) -> None:
    with pytest.raises(ExpressionError, match=r"ld must be from n \(5\) to n \+ 16 \(21\), not"):
        completed(ALL, {"n": 5, "ld": ld})


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**9))
def test_draws_lie_between_the_ends(low: int, more: int, seed: int) -> None:
    parameter = replace(SIZE, low=low, high=low + more)
    assert low <= draw_size(parameter, {}, random.Random(seed)) <= low + more


def test_an_empty_range() -> None:
    with pytest.raises(ExpressionError, match="the range of n is empty: 8 is more than 5"):
        bounds(replace(SIZE, lower=Expression.parse("m"), upper=Expression.parse("5")), {"m": 8})


def test_points_hold_the_corners_and_every_edge() -> None:
    parameters = (replace(SIZE, always=(30,)), replace(SIZE, name="m", high=7), DEPENDENT)
    tried = list(points(parameters))
    assert [values for _, values in tried[:2]] == [
        {"n": 1, "m": 1, "ld": 1},
        {"n": 9, "m": 7, "ld": 25},
    ]
    assert ("with n=30, m=7, ld=46", {"n": 30, "m": 7, "ld": 46}) in tried
    assert ("with n=9, m=1, ld=9", {"n": 9, "m": 1, "ld": 9}) in tried
    assert tried == list(points(parameters))


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 40)), min_size=1, max_size=4),
)
def test_strides_that_pass_never_overlap(dimensions: list[tuple[int, int]]) -> None:
    """And those that do not either overlap or are not one inside the other."""
    tensor = matrix([str(n) for n, _ in dimensions], [str(step) for _, step in dimensions])
    indices = itertools.product(*(range(n) for n, _ in dimensions))
    steps = [step for _, step in dimensions]
    places = [sum(i * step for i, step in zip(index, steps, strict=True)) for index in indices]
    try:
        check_tensor(tensor, {})
    except ExpressionError as error:
        assert "overlap" in str(error)
        return
    assert len(set(places)) == len(places)
    assert max(places) + 1 == span(tensor, {})


@given(st.permutations(range(3)), st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_nested_strides_pass(order: list[int], gaps: list[int]) -> None:
    """Any order of the dimensions, with any gaps."""
    lengths, steps, step = [2, 3, 4], [0, 0, 0], 1
    for dimension, gap in zip(order, gaps, strict=True):
        steps[dimension] = step
        step = step * lengths[dimension] + gap
    check_tensor(matrix([str(n) for n in lengths], [str(s) for s in steps]), {})


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 70))
def test_a_leading_dimension_must_not_be_too_small(m: int, n: int, ld: int) -> None:
    assume(m > 1 and n > 1)
    tensor = matrix(["m", "n"], ["ld", "1"])
    values = {"m": m, "n": n, "ld": ld}
    if ld >= n:
        check_tensor(tensor, values)
    else:
        with pytest.raises(ExpressionError, match="elements overlap: the stride ld is"):
            check_tensor(tensor, values)
