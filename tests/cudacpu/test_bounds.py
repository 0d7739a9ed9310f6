"""AddressSanitizer on fibers: every access out of bounds is named, and nothing else is."""

import pytest

from harness.cudacpu import ASAN_EXIT_STATUS


@pytest.fixture(scope="module")
def library(build):
    return build("bounds", sanitize=True)


@pytest.mark.parametrize(
    ("function", "marker", "kernel", "fitting", "excess", "access"),
    [
        ("read", "READ", "read_past", 64, 63, "READ of size 4"),
        ("write", "WRITE", "write_past", 128, 127, "WRITE of size 4"),
        ("shared", "SHARED", "shared_past", None, 1, "WRITE of size 4"),
        ("dynamic", "DYNAMIC", "dynamic_past", None, 40, "WRITE of size 4"),
        ("local", "LOCAL", "local_past", None, 8, "READ of size 4"),
        ("freed", "WRITE", "write_past", 32, 31, "WRITE of size 4"),
    ],
)
def test_out_of_bounds_is_reported_where_it_happens(
    call_guarded, marked_line, library, function, marker, kernel, fitting, excess, access
):
    if fitting is not None:
        done = call_guarded(library, function, fitting)
        assert (done.returncode, done.stdout) == (0, "ran to the end\n"), done.stderr
    done = call_guarded(library, function, excess)
    assert done.returncode == ASAN_EXIT_STATUS, done.stderr
    assert access in done.stderr
    line = marked_line("bounds", marker)
    first_frame = next(t for t in done.stderr.splitlines() if t.lstrip().startswith("#0"))
    assert kernel in first_frame
    assert f"bounds.cu:{line}" in first_frame


@pytest.mark.parametrize("order", [0, 1, 2])
def test_deep_recursion_and_abandoned_threads_are_not_reported(call_guarded, library, order):
    done = call_guarded(library, "clean", 256, order)
    assert (done.returncode, done.stdout) == (0, "ran to the end\n"), done.stderr
    assert done.stderr == ""
