"""Builds ahead of their turn."""

from harness.grading.lookahead import prefetch
from hypothesis import given
from hypothesis import strategies as st


@given(count=st.integers(0, 20), most=st.integers(1, 8))
def test_so_many_are_begun_at_a_time(count: int, most: int) -> None:
    begun: list[int] = []
    seen = []
    for item, made in prefetch(range(count), lambda each: begun.append(each) or -each, most):
        assert made == -item
        seen.append(item)
        assert len(begun) == min(count, item + most)
    assert seen == begun == list(range(count))
