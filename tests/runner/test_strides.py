"""Which bytes of a tensor with strides are its elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runner.strides import Rows, rows_of


@pytest.mark.parametrize(
    ("shape", "strides", "rows"),
    [
        ((), (), Rows(4)),
        ((5,), (1,), Rows(20)),
        ((1,), (7,), Rows(4)),
        ((3, 5), (5, 1), Rows(60)),
        ((3, 5), (1, 3), Rows(60)),  # column-major is as dense
        ((3, 5), (8, 1), Rows(20, ((3, 32),))),
        ((5,), (2,), Rows(4, ((5, 8),))),
        ((2, 3, 5), (20, 5, 1), Rows(60, ((2, 80),))),
        ((2, 3, 5), (30, 6, 1), Rows(20, ((2, 120), (3, 24)))),
        ((2, 1, 5), (30, 999, 1), Rows(20, ((2, 120),))),
    ],
)
def test_rows_of_a_tensor_are_its_contiguous_stretches(shape, strides, rows) -> None:
    assert rows_of(shape, strides, 4) == rows
    assert rows.nested


def test_interleaved_rows_are_not_nested() -> None:
    assert not rows_of((2, 3), (3, 2), 4).nested


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=4),
    st.sampled_from([1, 2, 8]),
    st.randoms(use_true_random=False),
)
def test_rows_cover_the_elements_and_nothing_else(lengths, itemsize, random) -> None:
    steps, step = [], 1
    for length, extra in reversed(lengths):
        step += extra
        steps.insert(0, step)
        step *= length
    order = random.sample(range(len(steps)), len(steps))
    shape, strides = [lengths[d][0] for d in order], [steps[d] for d in order]
    size = step * itemsize
    wanted, found = np.zeros(size, bool), np.zeros(size, bool)
    for index in np.ndindex(*shape):
        start = sum(i * s for i, s in zip(index, strides, strict=True)) * itemsize
        wanted[start : start + itemsize] = True
    rows = rows_of(shape, strides, itemsize)
    assert rows.nested
    for index in np.ndindex(*[length for length, _ in rows.axes]):
        start = sum(i * s for i, (_, s) in zip(index, rows.axes, strict=True))
        found[start : start + rows.bytes] = True
    assert (wanted == found).all()
