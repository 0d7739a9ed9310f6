import re

from harness.session.fault import sanitizer_summary


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
