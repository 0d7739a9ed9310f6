"""A review that is ended before its end leaves reports of what it has found out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.repositories import CI, GOOD, WRONG, Repo, pretend
from support.running import Command

from harness.ci.choices import CiChoices
from harness.ci.command import run
from harness.ci.report import FileOutcome, PullRequestReport
from harness.ci.repository import Repository
from harness.grading.job import Completed

pytestmark = pytest.mark.corpus

FILES = [f"solutions/vector-add/alice/{name}.py" for name in ("first", "second", "third")]
REPORTS = {"report.json", "summary.md", "comment.md", "junit.xml"}


@pytest.fixture
def three(repo: Repo) -> Repo:
    for path in FILES:
        repo.write(path, GOOD + "# again\n" if path != FILES[1] else WRONG)
    repo.commit()
    return repo


def _skipped(report: PullRequestReport) -> list[str]:
    return [note.path for note in report.skipped]


def test_reports_are_written_after_each_verdict(three: Repo, ci: CI, tmp_path: Path) -> None:
    seen = []

    def grade(jobs, options, device):
        for job in jobs:
            names = {path.name for path in (tmp_path / "out").iterdir()}
            assert names == REPORTS | {".gitignore"}
            text = (tmp_path / "out/report.json").read_text(encoding="utf-8")
            seen.append(PullRequestReport.from_json(text))
            yield pretend(job, options)

    assert ci(grade).status == 1
    for number, report in enumerate(seen):
        assert [each.path for each in report.graded] == FILES[:number]
        assert _skipped(report) == FILES[number:]
        assert (report.outcome, "not finished" in report.fault) == (FileOutcome.FAULT, True)


def test_what_is_left_when_the_time_is_over_is_skipped(three: Repo, ci: CI) -> None:
    def grade(jobs, options, device):
        yield pretend(jobs[0], options)
        time.sleep(600)

    began = time.monotonic()
    ended = ci(grade, limit_s=2.0)
    assert time.monotonic() - began < 300  # and not for as long as it sleeps
    assert ended.status == 3
    assert "2 not graded" in str(ended.error)
    assert ended.verdicts == {FILES[0]: "ACCEPTED"}
    assert _skipped(ended.report) == FILES[1:]
    assert ended.report.fault == "--limit-s 2 is over"
    for name in ("summary.md", "comment.md"):
        assert FILES[2] in (ended.out / name).read_text(encoding="utf-8")


def test_time_that_is_not_needed_changes_nothing(three: Repo, ci: CI) -> None:
    ended = ci(limit_s=300.0)
    assert (ended.status, ended.report.fault, _skipped(ended.report)) == (1, "", [])


def test_an_interrupt_comes_after_the_reports(three: Repo, tmp_path: Path) -> None:
    def grade(work, device):
        yield Completed(work[0], pretend(work[0].job, work[0].options))
        raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(CiChoices(base="main", out=out), Repository(three.folder), grade)
    report = PullRequestReport.from_json((out / "report.json").read_text(encoding="utf-8"))
    assert (report.fault, _skipped(report)) == ("interrupted", FILES[1:])


def test_a_job_that_is_ended_has_its_reports(repo: Repo, tmp_path: Path) -> None:
    repo.write(FILES[0], "")
    repo.write(FILES[1], "import time\n\ndef solution(x, y, z, n):\n    time.sleep(25)\n")
    repo.commit()
    out = tmp_path / "out/report.json"
    words = ["ci", "--base", "main", "--check", "--device", "cpu", "--out", str(out.parent)]
    command = Command(tmp_path, *words, cwd=repo.folder)

    def graded() -> list[str]:
        if not out.exists():
            return []
        report = PullRequestReport.from_json(out.read_text(encoding="utf-8"))
        return [each.path for each in report.graded]

    command.wait_for(graded)
    time.sleep(0.5)
    code, words_of_it = command.end(15)
    assert (code, words_of_it) == (143, "interrupted by SIGTERM")
    report = PullRequestReport.from_json(out.read_text(encoding="utf-8"))
    assert [each.path for each in report.graded] == FILES[:1]
    assert (report.fault, _skipped(report)) == ("interrupted by SIGTERM", [FILES[1]])
    assert {path.name for path in out.parent.iterdir()} == REPORTS | {".gitignore"}
