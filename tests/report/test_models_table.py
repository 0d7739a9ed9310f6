"""The table of models on the terminal: what became of each sample, counted once."""

import io

from rich.console import Console

from harness.records.result import Reason, Verdict
from harness.report.models import render_models

CELLS = {
    "model": "acme/two", "dtype": "float32", "device_kind": "cpu", "device": "Xeon",
    "harness_major": "0", "problems": 2, "samples": 4, "solved": 1, "pass@1": 0.25,
    "fast_1@1": float("nan"), "speedup": float("nan"),
    **dict.fromkeys((*Verdict, *Reason), 0),
}  # fmt: skip


def _shown(**counts: float) -> str:
    text = io.StringIO()
    render_models([CELLS | counts], Console(file=text, width=200))
    return text.getvalue()


def test_a_reason_is_no_further_sample() -> None:
    counts = {"ACCEPTED": 1, "RUNTIME_ERROR": 1, "INVALID_SUBMISSION": 2}
    shown = _shown(**counts, NO_CODE=1, TRUNCATED_IN_REASONING=1).splitlines()[-1]
    assert shown == (
        "acme/two: 1 ACCEPTED, 1 RUNTIME_ERROR, 2 INVALID_SUBMISSION (1 NO_CODE, "
        "1 TRUNCATED_IN_REASONING)"
    )
    assert _shown(INVALID_SUBMISSION=2).splitlines()[-1] == "acme/two: 2 INVALID_SUBMISSION"


def test_without_times_a_cpu_gives_verdicts() -> None:
    assert _shown(ACCEPTED=1).startswith("float32 · cpu (Xeon): verdicts alone · harness 0.x")
    timed = _shown(speedup=1.5)
    assert timed.startswith("float32 · cpu (Xeon): functional timing, not a GPU's")


def test_levels_are_below_their_model_and_their_samples_counted_once() -> None:
    text = io.StringIO()
    about = CELLS | {"problem_set": "kernelbench", "ACCEPTED": 1, "NO_CODE": 0}
    rows = [about | {"level": ""}, about | {"level": "1"}, about | {"level": "2"}]
    render_models(rows, Console(file=text, width=200))
    shown = text.getvalue()
    assert shown.startswith("kernelbench · float32 · cpu (Xeon)")
    assert shown.count("  level 1 ") == shown.count("  level 2 ") == 2  # one in each table
    assert shown.count("acme/two: 1 ACCEPTED") == 1
