"""Problems that are named by a path, and lists of what a checkout holds."""

import json
from pathlib import Path

import pytest
from formats.kernelbench_problems import ACCEPTED, HEAD, REFUSED
from support.commands import in_shell, words
from support.foreign import written

from harness.commands.jobs import Packages, job_of
from harness.errors import UsageError
from harness.formats.problem import Foreign
from harness.problem.package import Problem

ROOT = Path(__file__).parents[2] / "problems"


def test_paths_and_slugs_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "fixed.py", HEAD + ACCEPTED["fixed"][0])
    (tmp_path / "softmax").mkdir()
    file = written(tmp_path, "file.py", "ModelNew = 1\n")
    monkeypatch.chdir(tmp_path)
    packages = Packages(ROOT)
    for name in (str(path), "fixed.py", "./fixed.py"):
        job = job_of(file, packages, problem=name)
        assert isinstance(job.problem, Foreign)
        assert job.problem.named == name.removeprefix("./")
        assert job.solution.problem == job.problem.slug
    assert isinstance(job_of(file, packages, problem="softmax").problem, Problem)
    for name, reason in (
        ("gone.py", "gone.py: no such file or folder"),
        ("file.py", "file.py: no problem of a known format"),
        ("softmax/", "softmax: no problem of a known format"),
        ("softmx", "softmx"),
    ):
        with pytest.raises(UsageError, match=reason):
            job_of(file, packages, problem=name)


@pytest.mark.corpus
def test_a_checkout_is_graded_and_listed(tmp_path: Path) -> None:
    text, claim = ACCEPTED["fixed"]
    path = written(tmp_path, "set/1_fixed.py", HEAD + text)
    other = written(tmp_path, "set/2_dropout.py", REFUSED["dropout"][0])
    written(tmp_path, "own.py", HEAD + text + "\nModelNew = Model\n")
    to = ["--store", "s.db", "--json", "r.json"]
    asked = words("submit", "own.py", "--problem", path, *to, "--functional-times")
    done = in_shell(asked, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"claim   {claim}" in done.stdout
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["problem"]["format"] == "kernelbench"
    assert result["notes"] == []
    assert result["score"]["baseline"] == "reference"
    assert result["score"]["unranked_reason"].startswith("cpu")
    (measured,) = result["measurements"]
    assert measured["spec"].startswith("inputs=1")
    assert measured["baseline_s"]["value"] > 0
    assert in_shell(words("check", "own.py", "--problem", other), tmp_path).returncode == 1

    listed = in_shell(words("formats", "list", "set", "--small"), tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.splitlines() == [
        "set/2_dropout.py: its reference draws random numbers in the call (dropout?)",
        "kernelbench: 2 problems",
        "1 can be graded here, 1 cannot",
        "     1  its reference draws random numbers in the call (dropout?)",
    ]
    lines = in_shell(words("formats", "list", "set", "--small", "--json"), tmp_path).stdout
    assert [bool(json.loads(line)["reason"]) for line in lines.splitlines()] == [False, True]
    (tmp_path / "empty").mkdir()
    assert in_shell(words("formats", "list", "empty"), tmp_path).returncode == 2
