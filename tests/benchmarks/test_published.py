"""Published kernels: what is graded, what is known, and what another evaluation says beside it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from formats.kernelbench_problems import HEAD, SCALED
from support.foreign import written

from benchmarks.published import (
    Beside,
    Row,
    beside_table,
    kept_to,
    own_evaluation,
    published,
    table,
)

EVALUATION = """
from types import SimpleNamespace

def eval_kernel_against_ref(reference, custom, **how):
    assert how["num_correct_trials"] == 5 and how["measure_performance"]
    if "1.01" in custom:
        print("said by the kernel")
    if "raise" in custom:
        raise RuntimeError("no kernel")
    return SimpleNamespace(compiled="oops" not in custom, correctness="1.01" not in custom)
"""


def records(folder: Path) -> Path:
    """Four records of one problem: right, wrong, and two without source text."""
    text = HEAD + SCALED
    written(folder, "KernelBench/level1/1_scaled.py", text)
    own = text.replace("class Model", "class ModelNew")
    codes = (own, own.replace("return ", "return 1.01 * "), None, "None")
    lines = [{"level_id": 1, "task_id": 1, "ref_code": text, "custom_code": each} for each in codes]
    return written(folder, "some.jsonl", "\n".join(map(json.dumps, lines)))


@pytest.mark.corpus
def test_records_are_graded_once_and_another_evaluation_runs_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, problems = records(tmp_path), tmp_path / "KernelBench"
    written(tmp_path, "theirs/src/kernelbench/eval.py", EVALUATION)
    found = published(
        *(file, problems),
        device="cpu", cards="", jobs=2, seconds=600.0,
        beside=tmp_path / "theirs", beside_seconds=600.0,
    )  # fmt: skip
    assert found["found"] == 2
    graded = [(row["record"], row["verdict"]) for row in found["graded"]]
    assert graded == [(1, "ACCEPTED"), (2, "WRONG_ANSWER")]
    assert all(row["slug"] == "kernelbench-level1-1-scaled" for row in found["graded"])
    assert all(0 < row["seconds"] < 600 for row in found["graded"])
    both = {each["record"]: each for each in found["beside"]}
    assert {number: each["own"] for number, each in both.items()} == {1: "correct", 2: "wrong"}
    assert both[2]["verdict"] == "WRONG_ANSWER" and not both[2]["inline"]
    assert "2 graded" in capsys.readouterr().out

    found["graded"][0]["message"] = "known"
    known = written(tmp_path, "known.json", json.dumps(found))
    again = published(file, problems, device="cpu", cards="", jobs=1, seconds=600.0, known=[known])
    assert [row["message"] for row in again["graded"]] == ["known", found["graded"][1]["message"]]
    assert not again["beside"]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "correct"),
        ("1.01", "wrong"),
        ("oops", "not compiled"),
        ("raise", "no answer: RuntimeError: no kernel"),
    ],
)
def test_what_another_evaluation_says(tmp_path: Path, code: str, said: str) -> None:
    written(tmp_path, "src/kernelbench/eval.py", EVALUATION)
    assert own_evaluation({"ref_code": "", "custom_code": code}, tmp_path) == said


def test_the_tables() -> None:
    rows = [
        Row(record=n, slug="a", verdict=verdict, message="why", claims=(), seconds=float(n))
        for n, verdict in enumerate(("ACCEPTED", "ACCEPTED", "WRONG_ANSWER"), 1)
    ]
    assert [*table(rows)] == [
        "3 graded; 2.0 s for one in the median, 3.0 at most",
        "   2 ACCEPTED",
        "   1 WRONG_ANSWER",
        "     3 a WRONG_ANSWER why",
    ]
    assert [*table([])] == []
    one = Beside(
        record=7, inline=True, verdict="ACCEPTED", seconds=8.0, own="correct", own_seconds=59.5
    )
    assert [*beside_table([one])][-1] == "| 7 | yes | ACCEPTED | 8.0 | correct | 59.5 |"


def test_what_is_started_keeps_to_its_share_of_the_processors() -> None:
    before = os.sched_getaffinity(0)
    one = min(before)
    with kept_to([one]):
        told = subprocess.run(
            [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"],
            capture_output=True,
            text=True,
            check=True,
        )
    assert told.stdout.strip() == str({one})
    assert os.sched_getaffinity(0) == before
