"""References as submissions to their own problems."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from formats import gpumode_problems, kernelbench_problems, leetgpu_problems, tensara_problems
from formats.flashinfer_problems import NORM, NORM_WORK
from formats.flashinfer_problems import checkout as flashinfer_checkout
from support.foreign import written

from benchmarks import ROOT
from harness.sandbox import processes


@pytest.mark.corpus
def test_references_of_all_formats_are_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.field.collect import field

    text = kernelbench_problems.HEAD + kernelbench_problems.SCALED
    written(tmp_path, "KernelBench/level1/1_scaled.py", text)
    broken = text.replace("def get_inputs", "def no_inputs")
    written(tmp_path, "KernelBench/level2/2_broken.py", broken + "def get_inputs(): return [1 / 0]")
    gpumode_problems.checkout(tmp_path / "gpumode", "sort_py", gpumode_problems.SORT)
    leetgpu_problems.checkout(tmp_path / "leetgpu", "scale", leetgpu_problems.SCALE)
    tensara_problems.checkout(tmp_path / "tensara", "two", tensara_problems.TWO)
    flashinfer_checkout(tmp_path / "flashinfer", "norm_d64", NORM, NORM_WORK)
    data = field([tmp_path], device="cpu", timed=False, seconds=600.0, part="1/1")
    found = {row["set"]: row["verdict"] for row in data["graded"]}
    assert found == {
        "kernelbench level1": "ACCEPTED",
        "kernelbench level2": "ProblemError",
        "gpumode": "ACCEPTED",
        "leetgpu": "ACCEPTED",
        "tensara": "ACCEPTED",
        "flashinfer": "ACCEPTED",
    }
    json.dumps(data)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["set", "graded", "right"]
    assert "   1 ProblemError" in lines


def test_parts_are_all_there_is_and_nothing_twice(tmp_path: Path) -> None:
    from benchmarks.field.collect import ordered
    from harness.formats.known import problems_in

    text = kernelbench_problems.HEAD + kernelbench_problems.SCALED
    for number in range(7):
        written(tmp_path, f"level1/{number + 1}_a.py", text)
    found = list(problems_in(tmp_path))
    parts = [ordered(found, f"{number}/3") for number in (1, 2, 3)]
    slugs = sorted(source.slug for part in parts for source in part)
    assert slugs == sorted(source.slug for source in found)
    assert len(slugs) == 7
    with pytest.raises(SystemExit, match="there is no such part"):
        ordered(found, "4/3")


@pytest.mark.corpus
def test_several_at_a_time_go_on_with_what_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.field.collect import field

    text = kernelbench_problems.HEAD + kernelbench_problems.SCALED
    for number in range(3):
        written(tmp_path, f"level1/{number + 1}_a.py", text)
    first = field([tmp_path], device="cpu", timed=False, seconds=600.0, part="1/3")
    (row,) = first["graded"]
    assert row["verdict"] == "ACCEPTED" and row["hash"]
    assert row["phases"]["check"] > 0
    assert 0 < row["bytes"] < 1 << 30

    lost = {**row, "slug": "kernelbench-level1-lost", "hash": "1", "verdict": "MEMORY_LIMIT"}
    known = tmp_path / "known.json"
    old = {**row, "hash": ""}
    full = {**lost, "verdict": "ProblemError", "message": "OutOfMemoryError: CUDA", "hash": "2"}
    known.write_text(json.dumps({"graded": [{**row, "message": "known"}, lost, full, old]}))
    both = field(
        [tmp_path], device="cpu", timed=False, seconds=600.0, part="1/1", known=[known], jobs=2
    )
    assert sorted(row["slug"] for row in both["graded"]) == [
        f"kernelbench-level1-{number}-a" for number in (1, 2, 3)
    ]
    assert [row["message"] for row in both["graded"]].count("known") == 1
    assert all(row["verdict"] == "ACCEPTED" for row in both["graded"])
    assert "2 of 2 in" in (said := capsys.readouterr().out) and "1 known before" in said


@pytest.mark.parametrize(
    ("jobs", "memory", "waits"), [(1, None, False), (2, None, True), (1, 24.0, True)]
)
def test_what_takes_much_of_a_cards_memory_takes_turns(
    jobs: int, memory: float | None, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from benchmarks.field.grades import Turn

    card = SimpleNamespace(total_memory=80 << 30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: card)
    problem: Any = SimpleNamespace(footprints=lambda *, emulated: [1, 10 << 30])
    lock = threading.Lock()
    assert (Turn(lock, jobs, memory).of(problem) is lock) == waits


def test_no_time_is_taken_beside_others(tmp_path: Path) -> None:
    from benchmarks.field.collect import field

    with pytest.raises(SystemExit, match="--timed"):
        field([tmp_path], device="cpu", timed=True, seconds=1.0, part="1/1", jobs=2)


@pytest.mark.corpus
def test_the_rest_of_a_cards_memory_is_held_or_nothing_is_graded(tmp_path: Path) -> None:
    from benchmarks.field.collect import field

    with pytest.raises(SystemExit, match="--memory 24: the rest of a card could not be held"):
        field([tmp_path], device="cpu", timed=False, seconds=1.0, part="1/1", jobs=2, memory=24.0)


@pytest.mark.corpus
def test_each_process_has_its_cards_environment_before_it_imports_anything(
    tmp_path: Path,
) -> None:
    """CUDA reads which cards there are once, whenever something that is imported first asks."""
    from benchmarks.field.jobs import side_by_side

    seen = tmp_path / "seen"
    text = f"import os\nwith open({str(seen)!r}, 'a') as f: print(os.environ['CARD'], file=f)"
    written(tmp_path, "sitecustomize.py", text)  # imported by Python itself, as it starts
    places = [{"CARD": name, "PYTHONPATH": str(tmp_path)} for name in ("one", "other")]
    assert not [*side_by_side([], "cpu", places, 1, 60.0)]
    assert {"one", "other"} == {*seen.read_text().split()}


@pytest.mark.corpus
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_is_ended_leaves_no_process_and_if_it_can_what_is_known(
    number: signal.Signals, tmp_path: Path
) -> None:
    """An orphan would hold the card, and what was graded on it has cost its time."""
    text = kernelbench_problems.HEAD + kernelbench_problems.SCALED
    for each in range(40):
        written(tmp_path, f"level1/{each + 1}_a.py", f"{text}\n# {each}\n")
    told = tmp_path / "told.json"
    command = [
        *(sys.executable, "-m", "benchmarks", "--json", str(told), "field", str(tmp_path)),
        *("--device", "cpu", "--jobs", "2"),
    ]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        first = run.stderr.readline()
        below = processes.descendants(run.pid)
        run.send_signal(number)
        rest = run.stderr.read()
    assert "ACCEPTED" in first, first + rest
    assert len(below) > 2
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]
    if number == signal.SIGTERM:
        assert run.returncode == 128 + number
        assert "interrupted by SIGTERM: some are left" in rest
        assert json.loads(told.read_text())["graded"]
