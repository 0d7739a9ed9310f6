"""The counts that a runner reports: numbers that can be right, or None."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.session.reported import copied_per_call, kernels_per_call, returned_in_vain
from harness.wire.messages import Finished

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(JSON)
def test_counts_are_small_numbers_or_none(reported: Any) -> None:
    finished = Finished(kernels=reported, copied=reported, returned=reported)
    assert returned_in_vain(finished) is None  # words that are drawn are none of the three
    kernels, copied = kernels_per_call(finished), copied_per_call(finished)
    number = not isinstance(reported, bool) and isinstance(reported, int | float)
    assert kernels == (float(reported) if number and 0 <= reported <= 1e6 else None)
    assert copied == (
        reported if number and isinstance(reported, int) and 0 <= reported <= 1000 else None
    )


@pytest.mark.parametrize(
    ("reported", "kernels", "copied"),
    [
        ("0", 0.0, 0), ("2.5", 2.5, None), ("1000", 1e3, 1000), ("1001", 1001.0, None),
        ("1000000", 1e6, None), ("1000001", None, None), ("-1", None, None), ("NaN", None, None),
        ("true", None, None),
    ],
)  # fmt: skip
def test_counts_at_the_limits(reported: str, kernels: float | None, copied: int | None) -> None:
    finished = Finished(kernels=json.loads(reported), copied=json.loads(reported))
    assert kernels_per_call(finished) == kernels
    assert copied_per_call(finished) == copied
    assert kernels_per_call(Finished()) is copied_per_call(Finished()) is None


def test_what_was_returned_is_one_of_three_words_or_nothing() -> None:
    for word in ("tensor", "tensors", "number"):
        assert returned_in_vain(Finished(returned=word)) == word
    for word in ("", "Tensor", "tensor\n", ["tensor"], {"tensor": 1}, 1, None):
        assert returned_in_vain(Finished(returned=word)) is None
