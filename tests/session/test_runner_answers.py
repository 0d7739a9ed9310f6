"""What a runner says of itself: a fault, or a number that can be one; anything else is nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import wire
from harness.records.result import Verdict
from harness.session.fault import BROKEN
from harness.session.runner_answers import copied_per_call, kernels_per_call, parse_fault

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [
        ("unsupported", Verdict.NOT_EXECUTABLE_HERE),
        ("memory", Verdict.MEMORY_LIMIT),
        ("no_entry", Verdict.INVALID_SUBMISSION),
        ("compile", Verdict.COMPILE_ERROR),
        ("cuda", Verdict.RUNTIME_ERROR),
    ],
)
def test_a_fault_has_its_verdict(fault: str, verdict: Verdict) -> None:
    found = parse_fault({"type": "failed", "fault": fault, "message": "why"})
    assert (found.verdict, found.message) == (verdict, "why")
    assert parse_fault({"type": "failed", "fault": fault}).message == fault


@given(JSON, JSON)
def test_whatever_is_reported_is_a_fault_with_a_short_text(fault: Any, message: Any) -> None:
    found = parse_fault({"type": "failed", "fault": fault, "message": message})
    known = fault in list(wire.FaultCode) if isinstance(fault, str) else False
    assert known or found == BROKEN
    assert 0 < len(found.message) <= 4000
    assert len(parse_fault({"fault": "cuda", "message": "x" * 5000}).message) == 4000


@given(JSON)
def test_counts_are_small_numbers_or_nothing(said: Any) -> None:
    kernels, copied = kernels_per_call({"kernels": said}), copied_per_call({"copied": said})
    number = not isinstance(said, bool) and isinstance(said, int | float)
    assert kernels == (float(said) if number and 0 <= said <= 1e6 else None)
    assert copied == (said if number and isinstance(said, int) and 0 <= said <= 1000 else None)


@pytest.mark.parametrize(
    ("said", "kernels", "copied"),
    [
        ("0", 0.0, 0), ("2.5", 2.5, None), ("1000", 1e3, 1000), ("1001", 1001.0, None),
        ("1000000", 1e6, None), ("1000001", None, None), ("-1", None, None), ("NaN", None, None),
        ("true", None, None),
    ],
)  # fmt: skip
def test_the_ends_of_what_is_believed(said: str, kernels: float | None, copied: int | None) -> None:
    value = json.loads(said)
    assert kernels_per_call({"kernels": value}) == kernels
    assert copied_per_call({"copied": value}) == copied
    assert kernels_per_call({}) is copied_per_call({}) is None
