"""Which parameters of a slow test are tried in every run, and which by `make corpus` alone."""

from collections.abc import Iterable
from typing import Any

import pytest


def rest_in_corpus(values: Iterable[Any], *, always: int = 1) -> list[Any]:
    """The values of a parameter (or tuples of several); all but the first few are the corpus."""
    tuples = [value if isinstance(value, tuple) else (value,) for value in values]
    marks = [[] if number < always else [pytest.mark.corpus] for number in range(len(tuples))]
    return [pytest.param(*each, marks=mark) for each, mark in zip(tuples, marks, strict=True)]
