"""The command lines, and what they promise."""

from pathlib import Path

from harness.cudacpu import ASAN_OPTIONS, INCLUDE, asan_runtime, compile_command


def test_compile_command_depends_on_sanitize_and_compiler():
    paths = {"source": Path("a.cpp"), "output": Path("a.so")}
    fast = compile_command(**paths, var="__half", headers=["cuda_fp16.h"], sanitize=False)
    checked = compile_command(**paths, var="__half", headers=["cuda_fp16.h"], sanitize=True)
    assert "-DVAR=__half" in fast
    assert f"-I{INCLUDE}" in fast
    assert fast.index("cuda_runtime.h") < fast.index("cuda_fp16.h")
    assert "-fsanitize=address" in checked
    assert "-fsanitize=address" not in fast
    assert compile_command(**paths, var="int", sanitize=False, compiler="g++-13")[0] == "g++-13"


def test_asan_runtime_exists():
    assert asan_runtime().is_file()
    assert "detect_leaks=0" in ASAN_OPTIONS
