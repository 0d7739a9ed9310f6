"""Arithmetic in problem files."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.problem.expressions import SIZEOF_VAR, Expression, ExpressionError


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("m*k", {"m": 3, "k": 5}, 15),
        ("2*m*n*k + 3*m*n", {"m": 2, "n": 3, "k": 5}, 78),
        ("sizeof(VAR)*(m + 1)", {"m": 2, SIZEOF_VAR: 2}, 6),
        ("n // 2 + n % 2", {"n": 7}, 4),
        ("ceil(n / 4) * 4", {"n": 5}, 8),
        ("5*n*log2(n)", {"n": 8}, 120),
        ("-n ** 2", {"n": 3}, -9),
        ("max(m, n, 2) - min(m, n)", {"m": 1, "n": 4}, 3),
        ("1e3*n", {"n": 2}, 2000),
        ("+.5 * abs(-n)", {"n": 4}, 2),
        ("sqrt(n)", {"n": 9}, 3),
        (7, {}, 7),
        (" 7 ", {}, 7),
    ],
)
def test_value(text: str | int, values: dict[str, float], expected: float) -> None:
    assert Expression.parse(text).evaluate(values) == expected


def test_names() -> None:
    assert Expression.parse("2*m*n + max(k, m) * sizeof(VAR)").names == {"m", "n", "k"}


def test_equality_is_of_texts_and_records_travel() -> None:
    expression = Expression.parse("m*k")
    assert expression == Expression.parse(" m*k ")
    assert hash(expression) == hash(Expression.parse("m*k"))
    assert pickle.loads(pickle.dumps(expression)).evaluate({"m": 2, "k": 3}) == 6


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        ("m*", "not an arithmetic expression"),
        ("m k", "not an arithmetic expression"),
        ("a) + (b", "not an arithmetic expression"),
        ("m.real", r"unexpected '\.'"),
        ("m[0]", r"unexpected '\['"),
        ("'m'", "unexpected"),
        ("m & 1", "unexpected '&'"),
        ("m < n", "unexpected '<'"),
        ("__import__(1)", "unknown function __import__"),
        ("f(1)", "unknown function f"),
        ("min(1)", "min takes 2 to 8 arguments"),
        ("log2(1, 2)", "log2 takes 1 argument"),
        ("min(*m, 2)", "allowed"),
        ("m, n", "only numbers"),
        ("m if m else n", "only numbers"),
        ("m and n", "only numbers"),
        ("True", "not numbers"),
        ("sizeof(float)", "the only sizeof"),
        ("sizeof", "write sizeof"),
        ("VAR", "write sizeof"),
        ("max + 1", "is a function"),
        ("1e999", "not finite"),
        ("0x10", "unexpected '0' in '0x10'$"),
        ("m + 12n", r"unexpected '1' in 'm \+ 12n' \(a product is written 12\*n\)"),
        ("1_000", "unexpected"),
        ("1if", "unexpected"),
        ("m²", "unexpected '²'"),
        ("m+" * 300 + "m", "longer than"),
        ("-" * 60 + "m", "nested deeper"),
        ("9" * 80, "too large"),
    ],
)
def test_refused(text: str, complaint: str) -> None:
    with pytest.raises(ExpressionError, match=complaint):
        Expression.parse(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("k", "no value for k"),
        ("sizeof(VAR)", "no value for sizeof"),
        ("m / 0", "divides by zero"),
        ("m // 0", "divides by zero"),
        ("0 ** -1", "divides by zero"),
        ("9**9**9", "too large"),
        ("1e60 * 1e60", "too large"),
        ("(-1) ** 0.5", "not real"),
        ("log2(0)", "has no value"),
        ("sqrt(-1)", "has no value"),
    ],
)
def test_no_value(text: str, complaint: str) -> None:
    with pytest.raises(ExpressionError, match=complaint):
        Expression.parse(text).evaluate({"m": 4})


def test_whole() -> None:
    assert Expression.parse("m/2").whole({"m": 4}) == 2
    with pytest.raises(ExpressionError, match="not a whole number"):
        Expression.parse("m/2").whole({"m": 5})


@given(st.text(alphabet="mnk0123456789.e+-*/%(), minax_sqrtlog²\n\x00", max_size=40))
def test_anything_is_a_number_or_an_expression_error(text: str) -> None:
    try:
        value = Expression.parse(text).evaluate({"m": 3, "n": 2, "k": 5})
    except ExpressionError:
        return
    assert isinstance(value, int | float)


_numbers = st.integers(0, 50).map(str)
_expressions = st.recursive(
    _numbers | st.sampled_from(["m", "n"]),
    lambda inner: st.builds(
        lambda a, op, b: f"({a} {op} {b})",
        inner,
        st.sampled_from(["+", "-", "*", "//", "%"]),
        inner,
    ),
    max_leaves=8,
)


@given(_expressions, st.integers(1, 99), st.integers(1, 99))
def test_agrees_with_python(text: str, m: int, n: int) -> None:
    try:
        expected = eval(text, {"m": m, "n": n})
    except ZeroDivisionError:
        with pytest.raises(ExpressionError):
            Expression.parse(text).evaluate({"m": m, "n": n})
        return
    assert Expression.parse(text).evaluate({"m": m, "n": n}) == expected
