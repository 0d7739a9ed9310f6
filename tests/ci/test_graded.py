"""Pull requests that are truly graded, by the command itself."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from formats.kernelbench_problems import ACCEPTED, HEAD
from support.repositories import CI, ISOLATED, ROOT, Repo, pretend

from harness.ci.choices import CiChoices
from harness.ci.command import run
from harness.ci.report import PullRequestReport
from harness.ci.repository import Repository
from harness.grading.job import Job, Options
from harness.records.result import Result

BROKEN = "import torch\n\ndef solution(x, y, z, n) # ::error::@all\n    pass\n"


@pytest.mark.corpus
def test_ci_accepts_a_good_file_and_fails_a_broken_one(repo: Repo, tmp_path: Path) -> None:
    repo.write("solutions/vector-add/alice/good.py")
    repo.write("solutions/vector-add/alice/broken.py", BROKEN)
    repo.commit()
    summary = tmp_path / "summary"
    summary.write_text("before\n")
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from harness.cli import main; main()", "ci", "--base", "main"),
            *("--check", "--device", "cpu", "--out", "out"),
        ],
        cwd=repo.folder,
        env={
            **os.environ, **ISOLATED, "PYTHONPATH": str(ROOT), "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    report = PullRequestReport.from_json(
        (repo.folder / "out/report.json").read_text(encoding="utf-8")
    )
    assert [(each.path, str(each.result.verdict), each.line) for each in report.graded] == [
        ("solutions/vector-add/alice/broken.py", "COMPILE_ERROR", 3),
        ("solutions/vector-add/alice/good.py", "ACCEPTED", 1),
    ]
    commands = [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    (command,) = commands
    assert command.startswith(
        "::error file=solutions/vector-add/alice/broken.py,line=3,title=COMPILE_ERROR::solutions/"
    )
    assert "\\x3a:error::@all" in command
    assert "1 of 2 accepted; reports are in out" in done.stdout
    text = (repo.folder / "out/summary.md").read_text(encoding="utf-8")
    assert text.startswith("## Kernels: 1 of 2 accepted\n")
    assert summary.read_text(encoding="utf-8") == "before\n" + text
    suites = ET.parse(repo.folder / "out/junit.xml").getroot()
    (suite,) = suites
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "vector-add",
        "2",
        "1",
    )
    assert json.loads((repo.folder / "out/report.json").read_text())["outcome"] == "not accepted"


@pytest.mark.corpus
@pytest.mark.nvcc
def test_a_wrong_cuda_kernel_gets_a_line_and_a_command_to_replay(
    repo: Repo, tmp_path: Path
) -> None:
    wrong = ROOT / "problems/vector-add/examples/wrong_answer/whole_blocks_only.cu"
    path = "solutions/vector-add/bob/whole.cu"
    repo.write(path, wrong.read_bytes())
    # What the head says of the problem changes nothing.
    repo.write("problems/vector-add/reference.py", "raise SystemExit\n")
    repo.commit()
    choices = CiChoices(
        base="main", device="cpu", check_only=True, out=tmp_path, other_changes=True
    )
    assert run(choices, Repository(repo.folder)) == 1
    report = PullRequestReport.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
    (graded,) = report.graded
    assert graded.result.verdict == "WRONG_ANSWER"
    source = wrong.read_text(encoding="utf-8").splitlines()
    assert "solution(" in source[graded.line - 1]
    assert f"harness submit {path} --problem vector-add" in graded.result.reproduce
    assert graded.result.failed_case is not None


def test_problems_of_other_formats_are_those_of_the_base(repo: Repo, ci: CI) -> None:
    repo.git("checkout", "--quiet", "main")
    repo.write("problems/level1/1_Scan.py", HEAD + ACCEPTED["fixed"][0])
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "other")
    right = "solutions/kernelbench-level1-1-scan/alice/a.py"
    gone = "solutions/kernelbench-level1-2-gone/alice/a.py"
    repo.write(right, HEAD + ACCEPTED["fixed"][0] + "\nModelNew = Model\n")
    repo.write("problems/level1/2_Gone.py", HEAD + ACCEPTED["fixed"][0])  # the head says nothing
    repo.commit()
    named = []

    def grade(jobs: Sequence[Job], options: Options, device: str) -> Iterator[Result]:
        named.extend(job.problem.named for job in jobs)
        return iter([pretend(job, options) for job in jobs])

    ended = ci(grade, other_changes=True)
    assert ended.verdicts == {right: "ACCEPTED"}
    assert named == ["problems/level1/1_Scan.py"]
    repo.write(gone, "class ModelNew: pass\n")
    repo.commit()
    skipped = {note.path: note.reason for note in ci(grade, other_changes=True).report.skipped}
    assert skipped[gone] == (
        "the base has no problem kernelbench-level1-2-gone that can be graded; those of other "
        "formats lie below problems/, as in their own repository"
    )
