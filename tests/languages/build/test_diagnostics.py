from pathlib import Path

import pytest

from harness.languages.build.diagnostics import (
    LOG_BYTES,
    as_typed,
    capped,
    first_error,
    neutral,
    renamed,
)


def test_places_are_written_as_editors_follow_them() -> None:
    log = 'solution.cu(12): error: no "x"\n  call(3): y\n/tmp/b/solution.cu:1:10: fatal error: z\n'
    assert neutral(log, Path("/tmp/b")) == (
        'solution.cu:12: error: no "x"\n  call(3): y\nsolution.cu:1:10: fatal error: z\n'
    )


def test_only_the_copys_own_name_is_changed() -> None:
    log = "solution.cu:3: my_solution.cu solution.cubin solution.cu"
    assert (
        renamed(log, "solution.cu", r"a\1.cu") == r"a\1.cu:3: my_solution.cu solution.cubin a\1.cu"
    )


def test_the_first_error_and_how_many_more() -> None:
    log = "a.cu:1: warning: w\na.cu:2: error: one\na.cu:3: error: two\na.cu:4: fatal error: three\n"
    assert first_error(log) == "a.cu:2: error: one (and 2 more errors)"
    assert first_error("a.cu:2: error: " + "x" * 10_000).endswith("x" * 100)
    assert len(first_error("a.cu:2: error: " + "x" * 10_000)) == 500
    assert first_error("ptxas fatal   : Unresolved extern") == "ptxas fatal   : Unresolved extern"
    assembler = "/tmp/x: Assembler messages:\n/tmp/ccD1APsU.s:5: Error: file not found: f\n"
    assert first_error(assembler) == "/tmp/the kernel:5: Error: file not found: f"
    assert first_error("all is well") == ""


def test_a_long_log_is_cut_between_characters() -> None:
    cut = capped("ä" * LOG_BYTES)
    assert cut.startswith("ää")
    assert "cut" in cut.splitlines()[-1]
    assert capped("short") == "short"


@pytest.mark.parametrize(
    ("typed", "compiled", "at"),
    [
        ("__global__ void f(VAR* x) { y; }", "__global__ void f(VAR* x) { y; }", "y"),
        (
            "__global__ void f(VAR* x) { y; }",
            "__attribute__((global)) void f(float* x) { y; }",
            "y",
        ),
        ("\t__shared__ VAR q = bad();", "__attribute__((shared)) float q = bad();", "bad"),
        ("    z = (VAR)y[i];", "z = (__half)y[i];", "y"),
    ],
)
def test_a_line_is_shown_as_it_was_typed(typed: str, compiled: str, at: str) -> None:
    for margin in ("  ", "        "):
        log = f"solution.cu:2: error: no\n{margin}{compiled}\n{margin}{_caret(compiled, at)}\n\nend"
        line = typed.strip()
        after = f"solution.cu:2: error: no\n  {line}\n  {_caret(line, at)}\n\nend"
        if compiled != line:
            assert as_typed(log, "solution.cu", f"// one\n{typed}\n// three") == after
        else:
            assert as_typed(log, "solution.cu", f"// one\n{typed}\n") == log


def _caret(text: str, at: str) -> str:
    return " " * text.index(at) + "^"


def test_a_macro_in_a_line_has_the_place() -> None:
    log = "solution.cu:1: error: no\n  float q = y + y;\n            ^"
    shown = as_typed(log, "solution.cu", "VAR q = TWICE(y);")
    assert shown == "solution.cu:1: error: no\n  VAR q = TWICE(y);\n                ^"


def test_lines_of_other_files_stay() -> None:
    for log in (
        "prelude.h:1: error: no\n  float x\n  ^",
        "solution.cu:9: error: no\n  float x\n  ^",
        "solution.cu:1: error: no\n",
        "solution.cu:0: error: no\n  a\n  ^",
    ):
        assert as_typed(log, "solution.cu", "VAR x") == log
