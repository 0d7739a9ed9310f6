"""Every element is checked, and nothing that is not a right number passes for one."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judge import compare as module
from harness.judge.compare import compare
from harness.result import Element

NAN, INF = math.nan, math.inf


def check(got, expected, allowed, dtype=torch.float32):
    expected = torch.tensor(expected, dtype=torch.float64)
    return compare(
        "y",
        torch.tensor(got, dtype=dtype),
        expected,
        torch.tensor(allowed, dtype=torch.float64).expand_as(expected),
    )


@pytest.mark.parametrize(
    ("got", "expected", "allowed", "right"),
    [
        (1.0, 1.0, 0.0, True),
        (1.0, 1.5, 0.5, True),
        (1.0, 1.5, 0.499, False),
        (-0.0, 0.0, 0.0, True),
        (NAN, 1.0, INF, False),
        (NAN, 1.0, 1.0, False),
        (NAN, NAN, 1.0, True),
        (NAN, INF, INF, False),
        (1.0, NAN, 1.0, False),
        (1.0, NAN, NAN, False),
        (INF, NAN, NAN, False),
        (1.0, 1.0, NAN, False),
        (1.0, 2.0, INF, False),
        (INF, 1.0, 1.0, False),
        (INF, 1.0, NAN, False),
        (INF, INF, INF, True),
        (INF, INF, NAN, True),
        (-INF, INF, INF, False),
        (3e38, INF, INF, False),
        (INF, 1e39, 1e32, True),
        (-INF, -1e39, 1e32, True),
        (-INF, 1e39, 1e32, False),
        (3.4e38, 1e39, 1e32, False),
        (INF, 3.4028e38, 1e34, True),
        (3.4028e38, 3.4028e38, 1e34, True),
        (INF, 3.3e38, 1e34, False),
    ],
)
def test_one_element(got: float, expected: float, allowed: float, right: bool) -> None:
    assert (check([got], [expected], [allowed]) is None) is right


def test_overflow_is_that_of_the_outputs_type() -> None:
    assert check([INF], [7e4], [1.0], torch.float16) is None
    assert check([INF], [65510.0], [20.0], torch.float16) is None
    assert check([INF], [6e4], [1.0], torch.float16) is not None
    assert check([65504.0], [7e4], [1.0], torch.float16) is not None
    assert check([INF], [7e4], [1.0], torch.bfloat16) is not None


def test_first_and_worst() -> None:
    mismatch = check(
        [[0.0, 1.0, 2.5], [3.0, 9.0, 5.0]],
        [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
        [[0.1, 0.1, 0.1], [0.1, 0.2, 0.1]],
    )
    assert mismatch is not None
    assert (mismatch.parameter, mismatch.differing, mismatch.total) == ("y", 2, 6)
    assert mismatch.first == Element(index=(0, 2), expected=2, got=2.5, allowed=0.1)
    assert mismatch.worst == Element(index=(1, 1), expected=4, got=9, allowed=0.2)


def test_nan_is_the_worst() -> None:
    mismatch = check([9.0, NAN, 1e30], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0])
    assert mismatch is not None
    assert mismatch.worst.index == (1,)
    assert math.isnan(mismatch.worst.got)
    assert mismatch.first.index == (0,)


def test_integers_are_exact() -> None:
    big = 2**53 + 1
    expected, allowed = torch.tensor([big, 2]), torch.zeros(2, dtype=torch.float64)
    assert compare("y", torch.tensor([big, 2]), expected, allowed) is None
    mismatch = compare("y", torch.tensor([big - 1, 2]), expected, allowed)
    assert mismatch is not None
    assert mismatch.differing == 1
    flags = compare("y", torch.tensor([True, False]), torch.tensor([1, 1]), allowed)
    assert flags is not None
    assert flags.first.index == (1,)


def test_shapes_and_kinds_must_agree() -> None:
    one, two = torch.zeros(1), torch.zeros(2, dtype=torch.float64)
    with pytest.raises(ValueError, match="cannot be compared"):
        compare("y", one, two, two)
    complex_ = torch.zeros(2, dtype=torch.complex64)
    with pytest.raises(ValueError, match="complex"):
        compare("y", complex_, two, two)


def test_empty_and_strided() -> None:
    empty = torch.zeros(0, 3, dtype=torch.float64)
    assert compare("y", empty.float(), empty, empty) is None
    square = torch.arange(6.0).reshape(2, 3)
    zeros = torch.zeros(3, 2, dtype=torch.float64)
    assert compare("y", square.T, square.T.double(), zeros) is None
    assert compare("y", square.T, (square + 1).T.double(), zeros) is not None


_values = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 3e38, 1e39, -1e39, INF, -INF, NAN])
_allowances = st.sampled_from([0.0, 0.5, 1.0, 1e38, INF, NAN])


def right(got: float, expected: float, allowed: float) -> bool:
    """The rules of the module's docstring, one by one."""
    if math.isnan(got) or math.isnan(expected):
        return math.isnan(got) and math.isnan(expected)
    largest = torch.finfo(torch.float32).max
    if math.isinf(got):
        too_large = math.isfinite(allowed) and abs(expected) + allowed > largest
        return (math.isinf(expected) or too_large) and (got > 0) == (expected > 0)
    return math.isfinite(allowed) and abs(got - expected) <= allowed


@settings(deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 5), st.integers(1, 7))
def test_agrees_with_a_plain_loop(data, rows: int, columns: int, chunk: int) -> None:
    def draw(values, dtype):
        flat = data.draw(st.lists(values, min_size=rows * columns, max_size=rows * columns))
        return torch.tensor(flat, dtype=dtype).reshape(rows, columns)

    got = draw(_values, torch.float32)
    expected, allowed = draw(_values, torch.float64), draw(_allowances, torch.float64)
    wrong = [
        (i, j)
        for i in range(rows)
        for j in range(columns)
        if not right(got[i, j].item(), expected[i, j].item(), allowed[i, j].item())
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        mismatch = compare("y", got, expected, allowed)
    if not wrong:
        assert mismatch is None
        return
    assert mismatch is not None
    assert mismatch.differing == len(wrong)
    assert mismatch.first.index == wrong[0]
    assert mismatch.worst.index in wrong
