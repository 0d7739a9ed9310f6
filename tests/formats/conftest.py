"""A grader for the problems of other formats, which all tests of a file share."""

from collections.abc import Iterator

import pytest
from support.foreign import grading

from harness.grading.grader import Grader


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    """Without a GPU."""
    with grading() as one:
        yield one
