"""Misaligned accesses stop a kernel as they do on a GPU, and nothing else does."""

import pytest

MISALIGNED = 716


@pytest.fixture(scope="module")
def library(build):
    return build("alignment", sanitize=True)


@pytest.mark.parametrize(
    ("function", "offsets", "access", "needed"),
    [
        ("load", (1, 2, 3), "a load of 'const struct float4'", 16),
        ("store", (1, 2, 3), "a store of 'struct float4'", 16),
        ("cached", (1, 3), "a load", 8),
        ("wide", (1, 3), "a load of 'const double'", 8),
        ("pair", (0, 1), "a load", 4),
    ],
)
def test_a_misaligned_access_is_reported_where_it_happens(
    call_guarded, marked_line, library, function, offsets, access, needed
):
    for offset in (0, 4) if function != "pair" else ():
        done = call_guarded(library, function, 64, 0, offset)
        assert (done.returncode, done.stdout) == (0, "ran to the end\n"), done.stderr + done.stdout
    for offset in offsets:
        done = call_guarded(library, function, 64, 0, offset)
        assert done.returncode == 0, done.stderr
        code, _, message = done.stdout.partition(" ")
        assert int(code) == MISALIGNED
        assert f"kernel {function}_kernel, block (0,0,0), thread (0,0,0)" in message
        assert f"misaligned address: {access}" in message
        assert f"a multiple of {needed} bytes" in message
        line = marked_line("alignment", function.upper())
        assert f"alignment.cu:{line}" in message or f"at line {line}" in message


@pytest.mark.parametrize("offset", range(8))
def test_aligned_or_absent_accesses_are_not_reported(call_guarded, library, offset):
    done = call_guarded(library, "fine", 64, 0, offset)
    assert (done.returncode, done.stdout) == (0, "ran to the end\n"), done.stderr + done.stdout
