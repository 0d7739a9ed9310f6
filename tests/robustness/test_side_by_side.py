"""Judges that run at the same time, with one cache and one store, judge as one alone does."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from leaderboard.store import Store

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "solutions" / "vector-add" / "samples"
EXAMPLES = ROOT / "problems" / "vector-add" / "examples"
PROGRAM = "from harness.cli import main; main()"


def _start(file: Path, folder: Path) -> "subprocess.Popen[str]":
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HARNESS_CACHE": str(folder / "cache"),
        "HARNESS_STORE": str(folder / "results.sqlite"),
    }
    command = [sys.executable, "-c", PROGRAM, "submit", str(file), "--problem", "vector-add"]
    command += ["--problems", str(ROOT / "problems"), "--device", "cpu", "--no-shrink"]
    return subprocess.Popen(
        [*command, "--json", "-"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _verdict(process: "subprocess.Popen[str]") -> tuple[str, str]:
    out, err = process.communicate()
    assert out, err
    result = json.loads(out)
    return result["id"], result["verdict"]


@pytest.mark.corpus
def test_verdicts_are_those_of_a_judge_alone(tmp_path: Path) -> None:
    wrong = sorted(EXAMPLES.glob("wrong_answer/*.cu"))[0]
    files = [SAMPLES / "naive.cu", wrong, SAMPLES / "vectorized.cu", SAMPLES / "naive.cu"]
    alone = [_verdict(_start(file, tmp_path / "alone"))[1] for file in files[:3]]
    assert alone == ["ACCEPTED", "WRONG_ANSWER", "ACCEPTED"]
    together = [_start(file, tmp_path / "together") for file in files]
    told = [_verdict(process) for process in together]
    assert [verdict for _, verdict in told] == [*alone, alone[0]]
    with Store.open(str(tmp_path / "together" / "results.sqlite")) as store:
        stored = [(result.id, str(result.verdict)) for result in store.results()]
    assert Counter(stored) == Counter(told)
