"""What a save has changed: the verdict, the time, the ratio; not what is as it was."""

import io
import math

import pytest
from rich.console import Console
from support.samples import failed, measurement, result

from harness.records.measurement import Interval
from harness.records.result import Result, Verdict
from harness.report.change import render_change, time_ratio

FAST = result(measurements=(measurement(1e-4), measurement(2e-4, spec="n=2")))
SLOW = result(measurements=(measurement(2e-4), measurement(4e-4, spec="n=2")))
UNTIMED = result(measurements=(), score=None)
TITLE = "ACCEPTED  gemm · alice/tiled.cu · cuda · float32 · as before"


def shown(before: Result, after: Result) -> list[str]:
    stream = io.StringIO()
    render_change(before, after, Console(file=stream, width=200))
    return stream.getvalue().splitlines()


def test_a_faster_one_is_a_line() -> None:
    (line,) = shown(SLOW, FAST)
    assert line.startswith(
        "ACCEPTED  gemm · alice/tiled.cu · cuda · float32 · as before · 141 µs · 2"
    )
    assert line.endswith(" as fast")


def test_the_same_time_is_no_difference() -> None:
    (line,) = shown(FAST, FAST)
    assert line.endswith("as fast, no clear difference")


def test_what_was_not_timed_has_a_verdict_alone() -> None:
    assert shown(UNTIMED, UNTIMED) == [
        "ACCEPTED  gemm · alice/tiled.cu · cuda · float32 · as before"
    ]


def test_a_new_verdict_is_told() -> None:
    wrong = failed(Verdict.RUNTIME_ERROR, message="IndexError: 7")
    (line,) = shown(wrong, FAST)
    assert "was RUNTIME_ERROR · 141 µs" in line
    assert "as fast" not in line
    assert "reason  IndexError: 7" in shown(FAST, wrong)
    assert len(shown(FAST, wrong)) > 2


def test_the_same_failure_has_its_reason_alone() -> None:
    wrong = failed(Verdict.COMPILE_ERROR, message="k.cu:1: error: no")
    title, reason = shown(wrong, wrong)
    assert title.endswith("· as before")
    assert reason == "reason  k.cu:1: error: no"
    other = failed(Verdict.COMPILE_ERROR, message="k.cu:2: error: no")
    assert any(each.startswith("reason  k.cu:2") for each in shown(wrong, other))
    assert not shown(wrong, other)[0].endswith("as before")


@pytest.mark.parametrize(
    ("low", "high", "wide"), [(0.9e-4, 1.1e-4, False), (0.0, 1e-3, True), (1e-5, math.inf, True)]
)
def test_the_interval_of_the_ratio(low: float, high: float, wide: bool) -> None:
    one = measurement().model_copy(update={"time_s": Interval(value=1e-4, low=low, high=high)})
    ratio = time_ratio(result(measurements=(one,)), result(measurements=(one,)))
    assert ratio is not None
    assert ratio.value == pytest.approx(1)
    assert math.isinf(ratio.high) is wide
    assert time_ratio(UNTIMED, FAST) is None
    other = result(measurements=(measurement(1e-4, spec="n=9"),))
    assert time_ratio(other, FAST) is None
