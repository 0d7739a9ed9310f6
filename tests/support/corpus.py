"""Which parameters of a slow test are tried in every run, and which by `make corpus` alone."""

from collections.abc import Iterable
from typing import Any

import pytest


def rest_in_corpus(values: Iterable[Any], *, always: int = 1) -> list[Any]:
    """The values of a parameter; all but the first few are the corpus.

    A tuple holds values of several parameters: one that is a value itself goes into another.
    """
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=[] if number < always else [pytest.mark.corpus],
        )
        for number, value in enumerate(values)
    ]
