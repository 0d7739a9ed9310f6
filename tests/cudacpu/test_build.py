"""The command lines, and what they promise."""

from pathlib import Path

import pytest

from harness.cudacpu import ASAN_OPTIONS, INCLUDE, asan_runtime, compile_command


def test_commands_differ_in_what_they_should():
    paths = {"source": Path("a.cpp"), "output": Path("a.so")}
    fast = compile_command(**paths, var="float16", sanitize=False)
    checked = compile_command(**paths, var="float16", sanitize=True)
    assert "-DVAR=__half" in fast
    assert f"-I{INCLUDE}" in fast
    assert "-fsanitize=address" in checked
    assert "-fsanitize=address" not in fast
    assert compile_command(**paths, var="int32", sanitize=False, compiler="g++-13")[0] == "g++-13"


def test_an_unknown_type_is_refused():
    with pytest.raises(ValueError, match="float33"):
        compile_command(source=Path("a"), output=Path("b"), var="float33", sanitize=False)


def test_the_runtime_exists():
    assert asan_runtime().is_file()
    assert "detect_leaks=0" in ASAN_OPTIONS
