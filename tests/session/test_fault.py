"""Faults: the verdict and the text of an exit, a report, a sanitizer's findings."""

import re
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.result import Verdict
from harness.session.fault import of_exit, parse_fault, sanitizer_summary
from harness.wire.messages import Failed, FaultCode


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (0, "the process ended (exit status 0) before its work was done"),
        (127, "the process ended (exit status 127) before its work was done"),
        (128 + signal.SIGKILL, "was killed by SIGKILL (Killed)"),
        (128 + 100, "was killed by signal 100"),
    ],
)
def test_a_process_that_ended_is_at_fault(status: int, message: str) -> None:
    fault = of_exit(status)
    assert (fault.verdict, fault.message, fault.shared) == (Verdict.RUNTIME_ERROR, message, False)


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


def test_sanitizer_summary_names_the_access_and_its_line() -> None:
    report = """=1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2
WRITE of size 4 at 0x1 thread T0
    #0 0x1 in kernel(float*) /tmp/x/solution.cu:12
    #1 0x2 in solution solution.cu:20
"""
    summary = sanitizer_summary(report)
    assert summary == (
        "out-of-bounds or invalid memory access write of size 4 at solution.cu:12 in "
        "kernel(float*) (heap-buffer-overflow, found by AddressSanitizer)"
    )
    assert sanitizer_summary("") == "out-of-bounds or invalid memory access"
    assert re.fullmatch(r"[ -~]*", sanitizer_summary("ERROR: AddressSanitizer: x on y"))
