from pathlib import Path

from harness.languages.build.diagnostics import LOG_BYTES, capped, first_error, neutral, renamed


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
