"""Results on the terminal: order, content, width, and that nothing of theirs is interpreted."""

import io
import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text
from support.samples import (
    START,
    build_with,
    failed,
    interval,
    measurement,
    mismatch,
    result,
    score,
    unranked,
)

from harness.records.build import Build, KernelResources, Occupancy
from harness.records.cases import CaseResult, Element, Mismatch, ShrunkCase, TensorValues
from harness.records.measurement import BaselineScore, BaselineTime, Conditions
from harness.records.refs import DeviceRef
from harness.records.result import Result, Verdict
from harness.report.board import CPU_NOTE, MAX_ROWS, render_board, sparkline
from harness.report.matrix import matrix_lines
from harness.report.terminal import render_on_screen, render_result
from leaderboard.board import BoardKey, BoardRow

CPU = DeviceRef(kind="cpu", name="AMD EPYC 9654")
EVIL = "[bold red]x[/nope] [link=http://e]:bomb:\x1b[2J\x1b]0;t\x07\u202e\x00\r"


def _shown(each: Result, *, width: int = 80, colour: bool = False) -> str:
    stream = io.StringIO()
    render_result(each, Console(file=stream, width=width, force_terminal=colour))
    return stream.getvalue()


def test_accepted() -> None:
    shapes = (measurement(), measurement(3.2e-3, 0.97, spec="m=1,n=16384,k=4096", flops=None))
    text = _shown(result(measurements=shapes, notes=("first run on this card",)))
    lines = text.splitlines()
    assert lines[0].startswith("ACCEPTED  gemm · alice/tiled.cu · cuda · float32 · NVIDIA H100")
    assert "1.310× ± 0.003 over PyTorch eager (geometric mean of 2 shapes" in lines[1]
    assert lines.index("replay  harness submit tiled.cu --seed 123456789") <= 3
    assert "12.30 ± 0.03 µs" in text
    assert "16.1 µs" in text
    assert "0.970× ± 0.004" in text
    assert "PFLOP/s" in text
    assert "62.9 GB/s" in text
    assert re.search(r"tiled +64 +8 KiB +none", text)
    assert "note    first run on this card" in text
    assert CPU_NOTE not in text


def test_libraries_are_named_where_there_are_some() -> None:
    used = build_with(("cublasLt", "13.0.2"), ("cutlass", "4.2.0"))
    assert "for sm_90 with cublasLt 13.0.2, cutlass 4.2.0\n" in _shown(result(build=used))
    assert " with " not in _shown(result(build=build_with()))
    board = _board(_row(libraries="cutlass"), _row(author="bob"))
    assert "cuda + cutlass" in board
    assert board.count(" + ") == 1


def test_every_speed_up_names_its_baseline() -> None:
    other = BaselineTime(
        baseline="compiled", time_s=interval(9.6e-6), speedup=interval(0.78), samples_s=(9.6e-6,),
        submission_samples_s=(12.3e-6,),
    )  # fmt: skip
    others = (
        BaselineScore(baseline="compiled", speedup=interval(0.78)),
        BaselineScore(
            baseline=f"bob/{EVIL}", speedup=interval(0.5), recorded_at=START, result="r000001"
        ),
    )
    shown = result(
        measurements=(measurement(other_baselines=(other,)),),
        score=score(baseline="pytorch", other_baselines=others),
    )
    lines = _shown(shown, width=160).splitlines()
    assert lines[1].startswith("score   1.310× ± 0.003 over pytorch (one shape")
    assert lines[2] == "        0.7800× ± 0.0016 over compiled"
    assert lines[3].startswith("        0.5000× ± 0.0011 over bob/")
    assert lines[3].endswith(", the best recorded (2026-03-01; not timed again)")
    assert "\x1b" not in lines[3]
    (header,) = [line for line in lines if line.startswith("shape") and "rate" in line]
    assert re.search(r" pytorch +over pytorch ", header)
    assert any(re.match(r"m=4096.* compiled +9.60 µs +0.7800× ± 0.0016", line) for line in lines)


def test_kernels_are_a_line_where_they_are_known() -> None:
    known = measurement(kernels=1.0, baseline_kernels=3.0)
    assert "kernels 1 per call (baseline 3)" in _shown(result(measurements=(known,)))
    more = measurement(kernels=2.5)
    assert "kernels 1 to 2.5 per call (baseline 3)" in _shown(result(measurements=(known, more)))
    assert "kernels 2.5 per call\n" in _shown(result(measurements=(more,)))
    assert "kernels" not in _shown(result(measurements=(measurement(),), build=None))


def test_integers_and_complex_numbers_of_a_mismatch() -> None:
    whole = Element(index=(0,), expected=2**64 - 1, got=-(2**62) - 1, allowed=0.0)
    turned = Element(
        index=(1,), expected=1.5, expected_imag=-2.0, got=1.5, got_imag=math.nan, allowed=1e-3
    )
    wrong = Mismatch(parameter="c", differing=2, total=2, first=whole, worst=turned)
    case = CaseResult(spec="n=2", passed=False, message="c differs", mismatch=wrong)
    text = _shown(failed(cases=(case,)))
    assert "18446744073709551615" in text and "-4611686018427387905" in text
    assert "1.5-2i" in text and "1.5+nani" in text


def test_captured_output_is_shown_on_failure_only() -> None:
    assert "chatty" not in _shown(result(output="chatty"))
    assert "chatty" in _shown(failed(output="chatty"))


def test_spills_stand_out() -> None:
    kernel = KernelResources(name="k", registers=255, spill_store_bytes=128, spill_load_bytes=2048)
    build = Build(seconds=2.0, cached=True, target="sm_90", kernels=(kernel,) * 20)
    text = _shown(result(build=build))
    assert "128 B stored, 2 KiB loaded" in text
    assert "from the cache for sm_90" in text
    assert "… 8 more kernels" in text


def test_occupancy_is_shown_where_it_is_known() -> None:
    at = [Occupancy(threads=t, fraction=f, limit="registers") for t, f in ((128, 0.5), (512, 0.25))]
    open_size = KernelResources(name="open", registers=64, occupancy=tuple(at))
    known = KernelResources(name="known", registers=64, threads=512, occupancy=(at[1],))
    silent = KernelResources(name="silent", registers=64)
    build = Build(seconds=2.0, cached=True, target="sm_90", kernels=(open_size, known, silent))
    text = _shown(result(build=build))
    assert re.search(r"open +64 +0 B +none +up to 50%", text)
    assert re.search(r"known +64 +0 B +none +25%", text)
    assert re.search(r"silent +64 +0 B +none *\n", text)
    assert "occupancy" not in _shown(result())


def test_unranked_says_why() -> None:
    text = _shown(unranked("clocks moved: run it again"))
    assert "not ranked: clocks moved: run it again" in text


def test_cpu_is_marked() -> None:
    text = _shown(result(device=CPU))
    assert "cpu (AMD EPYC 9654)" in text.splitlines()[0]
    assert CPU_NOTE in text


def test_checked_without_timing() -> None:
    assert "not timed" in _shown(result(measurements=(), score=None))


def test_a_wrong_answer_shows_the_case_and_how_to_replay_it() -> None:
    passed = CaseResult(spec="m=1", passed=True)
    wrong = CaseResult(spec="m=33,n=1,k=7,alpha=-0.5", passed=False, mismatch=mismatch())
    also = CaseResult(spec="m=2", passed=False, message="too")
    text = _shown(failed(message="c is wrong", cases=(passed, wrong, also)))
    lines = text.splitlines()
    assert lines[0].startswith("WRONG_ANSWER")
    assert lines[1] == "reason  c is wrong"
    assert lines[2] == "case    m=33,n=1,k=7,alpha=-0.5"
    assert lines[3] == "differ  12 of 33 elements of c"
    assert lines[5].split() == ["first", "[0,", "3]", "1.25", "1.5", "1e-05"]
    assert lines[6].split() == ["worst", "[4,", "0]", "-2", "nan", "2e-05"]
    assert lines[7] == "replay  harness submit tiled.cu --seed 123456789"
    assert lines[8] == "cases   2 of 3 failed"
    assert lines[9] == "        also m=2  too"


def _tensor(role: str, values: Any, *shape: int, parameter: str = "c") -> TensorValues:
    return TensorValues.model_validate(
        {"parameter": parameter, "role": role, "shape": shape, "values": values}
    )


def _shrunk(*tensors: TensorValues, spec: str = "m=2,n=3", **changes: Any) -> ShrunkCase:
    case = CaseResult(spec=spec, passed=False, message="1 of 6 wrong", mismatch=mismatch())
    return ShrunkCase(case=case, trials=23, seconds=0.94, tensors=tensors, **changes)


def test_the_smallest_failing_case_is_shown_whole() -> None:
    inf = float("inf")
    shrunk = _shrunk(
        _tensor("input", [[1.0, -2.5, 0.125], [3.0, 4.0, 1e-30]], 2, 3, parameter="a"),
        _tensor("expected", [1.0, 2.0], 2),
        _tensor("got", [float("nan"), -inf], 2),
    )
    wrong = CaseResult(spec="m=100,n=200", passed=False, message="9 of 9 wrong")
    text = _shown(failed(message="9 of 9 wrong", cases=(wrong,), shrunk=shrunk))
    lines = text.splitlines()
    assert lines[2] == "case    m=2,n=3"
    assert lines[3] == "        1 of 6 wrong"
    assert lines[4] == "differ  12 of 33 elements of c"
    assert lines[8:19] == [
        "        input a (2 × 3)",
        "              1   -2.5  0.125",
        "              3      4  1e-30",
        "        expected c (2)",
        "          1  2",
        "        got c (2)",
        "           nan  -inf",
        "shrunk  the smallest case found that fails (23 trials, 940 ms); it began with",
        "        m=100,n=200",
        "replay  harness submit tiled.cu --seed 123456789",
        "cases   1 of 1 failed",
    ]


def test_a_case_that_is_as_small_as_can_be() -> None:
    wrong = CaseResult(spec="m=2,n=3", passed=False, message="1 of 6 wrong")
    text = _shown(failed(message="1 of 6 wrong", cases=(wrong,), shrunk=_shrunk()))
    assert "shrunk  no smaller case was found that fails (23 trials, 940 ms)" in text
    assert text.count("1 of 6 wrong") == 1
    assert "began" not in text


@pytest.mark.parametrize(
    ("tensor", "lines"),
    [
        (_tensor("got", 1.5), ["1.5"]),
        (_tensor("got", [1, 20, -3], 3), [" 1  20  -3"]),
        (_tensor("got", [[1.0, 2.0]], 1), ["1+2i"]),
        (_tensor("got", [[[0.5, -1.0]]], 1, 1), ["0.5-1i"]),
        (_tensor("got", [[[1.0], [2.0]], [[3.0], [4.0]]], 2, 2, 1), [
            "[0]", "1", "2", "[1]", "3", "4",
        ]),
        (_tensor("got", [list(range(64))], 1, 64), [" 0   1   2   3   4   5 …"]),
        (_tensor("got", [[0.0]] * 64, 64, 1), ["0"] * 39 + ["…"]),
        (_tensor("got", [1.0, 2.0], 2, 2), ["1", "2"]),
        (_tensor("got", [], 0), [""]),
        (_tensor("got", [[[[1.0, 2.0], [3.0, 4.0]]]], 1), ["((1+2i, 3+4i))"]),
    ],
)  # fmt: skip
def test_matrices(tensor: TensorValues, lines: list[str]) -> None:
    assert matrix_lines(tensor, 25) == lines


nested = st.recursive(
    st.floats() | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=12
)


@given(nested, st.lists(st.integers(0, 9), max_size=4), st.integers(-5, 100))
def test_any_values_of_any_shape(values: Any, shape: list[int], width: int) -> None:
    lines = matrix_lines(_tensor("got", values, *shape), width)
    assert all("\n" not in line for line in lines)


def test_a_compile_error_shows_the_compilers_first_lines() -> None:
    log = "\n".join(f"tiled.cu({n}): error: [red]no" for n in range(100))
    build = Build(seconds=1.0, cached=False, target="sm_90", log=log)
    text = _shown(failed(Verdict.COMPILE_ERROR, message="nvcc: 100 errors", build=build))
    assert "tiled.cu(0): error: [red]no" in text
    assert "tiled.cu(99)" not in text
    assert "… 70 more lines" in text
    assert "replay" in text


def test_a_crash_shows_the_last_lines_of_its_output() -> None:
    output = "\n".join(f"line {n}" for n in range(100))
    text = _shown(failed(Verdict.RUNTIME_ERROR, message="killed by SIGSEGV", output=output))
    assert "line 99" in text
    assert "line 79" not in text
    assert "… 80 earlier lines" in text


def _evil() -> list[Result]:
    kernel = KernelResources(name=EVIL, registers=1)
    build = Build(seconds=1.0, cached=False, target=EVIL, log=EVIL, kernels=(kernel,))
    wrong = CaseResult(
        spec=EVIL,
        passed=False,
        message=EVIL,
        mismatch=mismatch().model_copy(update={"parameter": EVIL}),
    )
    everywhere: dict[str, Any] = {"author": EVIL, "name": EVIL, "language": EVIL, "notes": (EVIL,)}
    more: dict[str, Any] = {
        "reproduce": EVIL,
        "output": EVIL,
        "build": build,
        "dtype": EVIL,
        "message": EVIL,
    }
    gpu = DeviceRef(kind="cuda", name=EVIL)
    return [
        result(
            **everywhere,
            **more,
            device=gpu,
            measurements=(measurement(spec=EVIL),),
            score=score(baseline=EVIL, ranked=False, unranked_reason=EVIL),
        ),
        failed(Verdict.COMPILE_ERROR, **everywhere, **more, device=gpu),
        failed(**everywhere, **more, cases=(wrong, wrong)),
        failed(
            **everywhere,
            **more,
            cases=(wrong,),
            shrunk=ShrunkCase(
                case=wrong, trials=1, seconds=0.1, tensors=(_tensor("got", 1.0, parameter=EVIL),)
            ),
        ),
    ]


@pytest.mark.parametrize("each", _evil(), ids=lambda each: str(each.verdict))
@pytest.mark.parametrize("width", [20, 80, 300])
def test_text_of_a_submission_is_not_interpreted(each: Result, width: int) -> None:
    text = _shown(each, width=width)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert "💣" not in text
    if width == 300:
        assert "[bold red]x[/nope] [link=http://e]:bomb:" in text
    coloured = _shown(each, width=width, colour=True)
    # With colours, the only sequences are rich's own: colours, no links, no movements.
    assert "\x1b]" not in coloured
    assert set(re.findall(r"\x1b\[[0-9;]*(.)", coloured)) <= {"m"}


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.ACCEPTED])
def test_every_verdict_comes_first_then_reason_then_replay(verdict: Verdict) -> None:
    text = _shown(failed(verdict, message="because"))
    places = [text.index(word) for word in (str(verdict), "because", "harness submit")]
    assert places == sorted(places)
    assert text.startswith(str(verdict))


def test_what_is_to_be_copied_is_on_one_line() -> None:
    command = "harness submit " + "solutions/gemm/alice/x.cu " * 6 + "--seed 1"
    assert "replay  " + command in _shown(failed(reproduce=command)).splitlines()


def test_80_columns_are_enough() -> None:
    text = _shown(result(measurements=(measurement(spec="m=16384,n=16384,k=16384,alpha=0.25"),)))
    assert all(len(line) <= 80 for line in text.splitlines())
    for size in ("m=16384,", "n=16384,", "k=16384,", "alpha=0.25", "PFLOP/s"):
        assert size in text


def test_colour_only_where_it_is_wanted() -> None:
    assert "\x1b[" not in _shown(result())
    assert "\x1b[1;32mACCEPTED" in _shown(result(), colour=True)


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=40), st.integers(10, 200))
def test_any_text_at_any_width(text: str, width: int) -> None:
    render_result(
        failed(message=text or "x", author=text, output=text, reproduce=text),
        Console(file=io.StringIO(), width=width),
    )


# -- boards ----------------------------------------------------------------------------------


def _row(**changes: Any) -> BoardRow:
    row: dict[str, Any] = {
        "problem": "gemm",
        "dtype": "float32",
        "device_kind": "cuda",
        "device": "NVIDIA H100",
        "harness_major": "1",
        "baseline": "PyTorch eager",
        "rank": 1,
        "author": "alice",
        "solution": "tiled.cu",
        "language": "cuda",
        "time_us": 12.3,
        "speedup": 1.31,
        "speedup_low": 1.30,
        "speedup_high": 1.32,
        "unranked_reason": "",
        "date": START,
        "problem_hash": "p1",
        "solution_hash": "s1",
        "harness": "1.2.3",
        "result": "r1",
        "sol_fraction": None,
        "grade_spread": None,
    }
    return BoardRow(**row | changes)


def _board(
    *rows: BoardRow,
    width: int = 80,
    histories: Mapping[tuple[BoardKey, str, str], list[float]] = MappingProxyType({}),
) -> str:
    stream = io.StringIO()
    render_board(rows, Console(file=stream, width=width), histories=histories)
    return stream.getvalue()


def test_history_is_a_line_of_bars_where_there_is_one() -> None:
    one, other = _row(author="Alice"), _row(author="bob")
    histories = {(one.key, "alice", ""): [1.0, 1.2, 1.31], (one.key, "bob", ""): [2.0]}
    lines = _board(one, other, width=100, histories=histories).splitlines()
    assert lines[1].split()[-2:] == ["history", "date"]
    assert "▁▆█" in lines[2]
    assert not set("▁▂▃▄▅▆▇█") & set(lines[3])
    assert "history" not in _board(one, other)
    assert "history" not in _board(one, histories={(one.key, "bob", ""): [1.0, 2.0]})
    narrow = _board(one, width=60, histories=histories)
    assert "history" not in narrow
    assert "Alice" in narrow
    own = {(one.key, "alice", "tiled.cu"): [2.0, 1.0]}
    assert "█▁" in _board(one, width=100, histories=own)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], ""),
        ([1.0, 1.001, 1.002], "▅▅▅"),
        ([1.0, 2.0, 4.0], "▁▅█"),
        ([0.0, 1.0, math.inf, 2.0], "▁█"),
        ([float(n) for n in range(1, 40)], "▁▂▂▃▄▄▅▆▆▇▇█"),
    ],
)
def test_sparklines(values: list[float], shown: str) -> None:
    assert sparkline(values) == shown


def test_ties_are_shown_as_ties() -> None:
    lines = _board(_row(), _row(author="bob"), _row(author="carol", rank=3)).splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [
        ["1=", "alice"],
        ["1=", "bob"],
        ["3", "carol"],
    ]
    assert "speed-up over PyTorch eager" in lines[0]


def test_what_ranks_allow_for_is_said_under_the_entries() -> None:
    lines = _board(_row(grade_spread=0.0015), _row(author="bob", rank=None)).splitlines()
    assert lines[4] == "ranks allow for 0.15% (σ) between grades"
    assert "σ" not in _board(_row(rank=None))


def test_of_a_long_board_the_first_are_shown() -> None:
    text = _board(*(_row(author=f"author-{n}", rank=n + 1) for n in range(MAX_ROWS + 1200)))
    assert f"author-{MAX_ROWS - 1} " in text
    assert f"author-{MAX_ROWS} " not in text
    assert text.splitlines()[-1] == "… and 1,200 more: --csv FILE has all of them"


def test_unranked_rows_say_why() -> None:
    text = _board(_row(), _row(author="bob", rank=None, unranked_reason="noisy"))
    assert "– bob/tiled.cu: not ranked: noisy" in text


def test_rows_without_numbers() -> None:
    keys = ("rank", "time_us", "speedup", "speedup_low", "speedup_high")
    text = _board(_row(**dict.fromkeys(keys), unranked_reason="not timed"))
    assert "not timed" in text
    assert "nan" not in text and "None" not in text


def test_each_board_has_its_title_and_cpu_its_mark() -> None:
    text = _board(_row(), _row(device_kind="cpu", device="EPYC"), _row(dtype="float16"))
    assert text.count("rank ") == 3
    assert CPU_NOTE in text
    assert "cpu (EPYC)" in text


def test_no_rows() -> None:
    assert _board() == "no accepted results yet\n"


def test_authors_are_not_interpreted() -> None:
    names = ("problem", "dtype", "device", "baseline", "author", "solution", "language")
    text = _board(_row(**dict.fromkeys(names, EVIL), rank=None, unranked_reason=EVIL))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_light_and_conditions_are_shown_where_they_are_known() -> None:
    conditions = Conditions(
        clock_mhz=(1755, 1980), temperature_c=61, power_w=512.3, throttle=("power cap",),
        other_processes=0, readings=9,
    )  # fmt: skip
    lit = measurement(12.3e-6, sol_time_s=6e-6)
    text = _shown(result(measurements=(lit, measurement()), conditions=conditions))
    assert "light" in text
    assert " 49%" in text
    assert "card    1755–1980 MHz, 61 °C, 512 W, power cap" in text
    assert "light" not in _shown(result())


def test_score_between_baseline_and_light() -> None:
    assert measurement(2.0, 1.0, sol_time_s=1.0).sol_score == pytest.approx(0.5)
    assert measurement(1.0, 2.0, sol_time_s=1.0).sol_score == 1.0
    assert measurement(1.0, 2.0, sol_time_s=1.2).sol_score == 1.0
    assert measurement(3.0, 2 / 3, sol_time_s=1.0).sol_score == pytest.approx(1 / 3)
    assert measurement(1.0, 1.0, sol_time_s=1.0).sol_score is None
    assert measurement(1.0, 1.0).sol_score is None
    assert measurement(1.0, 1.0).sol_fraction is None


def _on_screen(each: Result, *, height: int, terminal: bool = True) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=80, height=height, force_terminal=terminal)
    render_on_screen(each, console, "all of it: --json FILE")
    return Text.from_ansi(stream.getvalue()).plain


def _long() -> Result:
    """A failure whose log, output and cases fill several screens."""
    cases = tuple(CaseResult(spec=f"m={n}", passed=False, message="no") for n in range(1, 9))
    log = "\n".join(f"k.cu:{n}: error: {'long ' * 30}" for n in range(40))
    return failed(
        Verdict.COMPILE_ERROR,
        message="k.cu:0: error",
        cases=cases,
        build=Build(seconds=1.0, cached=False, target="sm_90", log=log),
        output="printed\n" * 50,
    )


@pytest.mark.parametrize("height", [24, 30, 50])
def test_a_report_fits_the_screen(height: int) -> None:
    lines = _on_screen(_long(), height=height).splitlines()
    assert sum(-(-max(len(each), 1) // 80) for each in lines) < height
    assert lines[0].startswith("COMPILE_ERROR")
    assert lines[1] == "reason  k.cu:0: error"
    assert lines[-1] == "… shortened; all of it: --json FILE"


def test_a_short_report_is_whole_and_so_is_one_in_a_pipe() -> None:
    assert "shortened" not in _on_screen(result(), height=40)
    piped = _on_screen(_long(), height=24, terminal=False)
    assert piped == _shown(_long()).replace(_shown(_long()).splitlines()[0], piped.splitlines()[0])
    assert "shortened" not in piped


def test_a_shortened_report_keeps_colours_and_verdict() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, height=24, force_terminal=True, color_system="256")
    render_on_screen(_long(), console, "more")
    assert stream.getvalue().startswith("\x1b[")
    assert "shortened; more" in stream.getvalue()
