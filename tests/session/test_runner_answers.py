"""A runner's report of itself: a fault with a short text, or a number that can be one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.result import Verdict
from harness.session.fault import parse_fault
from harness.session.session import copied_per_call, kernels_per_call
from harness.wire.messages import Failed, FaultCode, Finished

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
    found = parse_fault(Failed(fault=FaultCode(fault), message="why"))
    assert (found.verdict, found.message) == (verdict, "why")
    assert parse_fault(Failed(fault=FaultCode(fault))).message == fault


@given(st.sampled_from(FaultCode), st.text())
def test_any_reported_fault_has_a_short_text(fault: FaultCode, message: str) -> None:
    found = parse_fault(Failed(fault=fault, message=message))
    assert 0 < len(found.message) <= 4000
    assert len(parse_fault(Failed(fault=FaultCode.CUDA, message="x" * 5000)).message) == 4000


@given(JSON)
def test_counts_are_small_numbers_or_none(said: Any) -> None:
    finished = Finished(kernels=said, copied=said)
    kernels, copied = kernels_per_call(finished), copied_per_call(finished)
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
def test_counts_at_the_limits(said: str, kernels: float | None, copied: int | None) -> None:
    finished = Finished(kernels=json.loads(said), copied=json.loads(said))
    assert kernels_per_call(finished) == kernels
    assert copied_per_call(finished) == copied
    assert kernels_per_call(Finished()) is copied_per_call(Finished()) is None
