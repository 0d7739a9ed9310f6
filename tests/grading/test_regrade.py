"""Boards brought up to date: which entries are graded again, which cannot be, and what is said."""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.plain_languages import install_plain_languages
from support.samples import failed, result

from harness import cli
from harness.device import choose as device
from harness.device.cpu import CpuDevice
from harness.grading.job import Job
from harness.grading.regrade import CHANGED, GONE, NO_PROBLEM, job_again
from harness.problem.format.load import load_problem
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.result import Result, Verdict
from harness.report.regrade import closing_line, regraded_line, skipped_line
from leaderboard.outdated import outdated
from leaderboard.ranking import board
from leaderboard.store import Store

PACKAGES = Path(__file__).parents[1] / "support/packages"
HONEST = "def solution(x, s, y, n):\n    for i in range(n):\n        y[i] = x[i] + s\n"
CARD = DeviceRef(kind="cuda", name="NVIDIA H100 80GB HBM3")


def _chosen(*results: Result, **options: Any) -> list[str]:
    fields: dict[str, Any] = {"current": {"gemm": "p2"}, "harness": "1.4.0", "device": CARD}
    return [each.id for each in outdated(results, **fields | options)]


def _graded(**changes: Any) -> Result:
    """Up to date unless something else is said."""
    return result(**{"problem_hash": "p2", "harness": "1.0.0", "solution_hash": "s"} | changes)


class TestOutdated:
    def test_another_version_of_problem_or_harness(self) -> None:
        now = _graded()
        problem = _graded(problem_hash="p1", solution_hash="t", minutes=1)
        major = _graded(harness="0.9.0", solution_hash="u", minutes=2)
        minor = _graded(harness="1.9.0", solution_hash="v", minutes=3)
        gone = _graded(problem="gone", minutes=4)
        everything = [now, problem, major, minor, gone]
        assert _chosen(*everything) == [problem.id, major.id, gone.id]
        assert _chosen(*reversed(everything)) == [problem.id, major.id, gone.id]
        assert set(_chosen(*everything, everything=True)) == {r.id for r in everything}
        assert _chosen(*everything, problems=["gone"]) == [gone.id]
        assert _chosen() == []

    def test_of_each_solution_the_newest_entry_is_regraded(self) -> None:
        first = _graded(problem_hash="p0")
        second = _graded(problem_hash="p1", minutes=1)
        third = _graded(problem_hash="p1", harness="0.1.0", minutes=2)
        assert _chosen(third, first, second) == [third.id]

    def test_entries_of_this_version_are_up_to_date(self) -> None:
        old = _graded(problem_hash="p1")
        assert _chosen(old, _graded(minutes=-5)) == []
        assert _chosen(old, failed(problem_hash="p2", harness="1.0.0", solution_hash="s")) == []
        silent = failed(
            Verdict.INTERNAL_ERROR, problem_hash="p2", harness="1.0.0", solution_hash="s"
        )
        assert _chosen(old, silent) == [old.id]

    def test_withdrawn_entries_are_not_regraded(self) -> None:
        old = _graded(problem_hash="p1")
        wrong = failed(problem_hash="p1", harness="1.0.0", solution_hash="s", minutes=1)
        assert _chosen(old, wrong) == []
        assert _chosen(old, wrong, everything=True) == []

    @pytest.mark.parametrize(
        "other",
        [
            {"author": "bob"},
            {"dtype": "float16"},
            {"solution_hash": "t"},
        ],
    )
    def test_results_of_other_entries_do_not_count_for_it(self, other: dict[str, Any]) -> None:
        old = _graded(problem_hash="p1")
        assert _chosen(old, _graded(minutes=1, **other)) == [old.id]

    def test_entries_of_other_devices_are_not_regraded(self) -> None:
        elsewhere = DeviceRef(kind="cuda", name="NVIDIA H200")
        there = _graded(problem_hash="p1", device=elsewhere)
        here = _graded(problem_hash="p1")
        assert _chosen(there, here) == [here.id]
        assert _chosen(there, here, device=elsewhere, everything=True) == [there.id]
        # What was judged there says nothing about here.
        assert _chosen(here, _graded(device=elsewhere)) == [here.id]

    def test_everything_means_all_entries_of_the_boards(self) -> None:
        results = [
            _graded(minutes=0),
            _graded(minutes=1),
            _graded(solution_hash="t", problem_hash="p1"),
            failed(problem_hash="p2", harness="1.0.0", solution_hash="u", minutes=2),
            _graded(author="bob", minutes=3),
            _graded(dtype="float16", minutes=4),
        ]
        shown = board(results, all_entries=True, current={"gemm": "p2"})
        assert set(_chosen(*results, everything=True)) == set(shown["result"])


class TestJobAgain:
    @pytest.fixture
    def recorded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
        monkeypatch.chdir(tmp_path)
        Path("mine.py").write_text(HONEST)
        digest = hashlib.sha256(HONEST.encode()).hexdigest()

        def make(path: str = "mine.py", **changes: Any) -> Result:
            solution = SolutionRef(
                author="alice", name="mine", language="python", hash=digest, path=path
            )
            return result(problem="shift", language="python", solution=solution, **changes)

        return make

    def test_an_unchanged_file_becomes_its_job_again(
        self, recorded: Callable[..., Result], tmp_path: Path
    ) -> None:
        shift = {"shift": load_problem(PACKAGES / "shift")}
        for path in ("mine.py", str(tmp_path / "mine.py")):
            job = job_again(recorded(path), shift)
            assert isinstance(job, Job)
            assert (job.path, job.solution.author, job.problem.slug) == (path, "alice", "shift")

    def test_a_reason_is_given_where_there_is_no_job(self, recorded: Callable[..., Result]) -> None:
        shift = {"shift": load_problem(PACKAGES / "shift")}
        assert job_again(recorded(), {}) == NO_PROBLEM
        assert job_again(recorded("nowhere.py"), shift) == GONE
        assert job_again(recorded(""), shift) == GONE
        assert job_again(recorded(dtype="int8"), shift) == "problem no longer in int8"
        Path("link.py").symlink_to("mine.py")
        assert job_again(recorded("link.py"), shift) == CHANGED
        for source in (HONEST + "\n", ""):
            Path("mine.py").write_text(source)
            assert job_again(recorded(), shift) == CHANGED


def test_regrade_lines_are_plain_text() -> None:
    evil = result(author="\x1b[2J", name="[red]x")
    assert skipped_line(evil, GONE) == "skipped   gemm · /[red]x · float32: file gone"
    after = failed(message="first\nsecond \x07")
    assert regraded_line(evil, after).endswith("float32: WRONG_ANSWER: first")
    assert regraded_line(evil, result()).endswith("float32: ACCEPTED")
    verdicts = [Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.ACCEPTED]
    assert closing_line(verdicts, 1) == "3 regraded (2 ACCEPTED, 1 WRONG_ANSWER), 1 skipped"
    assert closing_line([], 2) == "0 regraded, 2 skipped"
    assert closing_line([], 0).startswith("nothing to grade again")


class TestCommand:
    """With a stand-in for torch; entries of another harness are put in by hand."""

    @pytest.fixture
    def harness(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
        stand_in_for_torch: None,
    ) -> Callable[..., tuple[int, str, str]]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "results.sqlite"))
        monkeypatch.setenv("HARNESS_PROBLEMS", str(PACKAGES))
        monkeypatch.setattr(device, "gpu_present", lambda: False)
        install_plain_languages(monkeypatch)

        def run(*arguments: object) -> tuple[int, str, str]:
            monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments), "--device", "cpu"])
            capfd.readouterr()
            status = 0
            try:
                cli.main()
            except SystemExit as end:
                status = int(end.code or 0)
            return status, *capfd.readouterr()

        return run

    @pytest.fixture
    def entry(self, tmp_path: Path) -> Callable[..., Path]:
        """Writes a file and an accepted result of it by harness 99."""

        def make(source: str = HONEST, name: str = "mine.py", slug: str = "shift") -> Path:
            path = Path("solutions/shift/alice") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
            solution = SolutionRef(
                author="carol",
                name=path.stem,
                language="python",
                hash=hashlib.sha256(source.encode()).hexdigest(),
                path=str(path),
            )
            old = result(
                device=DeviceRef(kind="cpu", name=CpuDevice().name),
                language="python",
                dtype="float16",
                solution=solution,
            ).model_copy(
                update={
                    "problem": ProblemRef(slug=slug, title="", hash="other"),
                    "environment": Environment(harness="99.0.0", python="", platform=""),
                }
            )
            with Store.open(str(tmp_path / "results.sqlite")) as store:
                store.add(old)
            return path

        return make

    @pytest.mark.corpus
    def test_from_outdated_to_up_to_date(self, harness: Any, entry: Any, tmp_path: Path) -> None:
        entry()
        status, out, err = harness("regrade")
        assert (status, err) == (0, "")
        assert out.splitlines() == [
            "regraded  shift · carol/mine · float16: ACCEPTED",
            "1 regraded (1 ACCEPTED), 0 skipped",
        ]
        with Store.open(str(tmp_path / "results.sqlite")) as store:
            _, new = store.results()
            assert store.source(new.solution.hash) == HONEST.encode()
        assert (new.solution.author, new.dtype) == ("carol", "float16")
        assert new.score is not None
        status, out, _ = harness("regrade")
        assert (status, out.split(":")[0]) == (0, "nothing to grade again")
        status, out, _ = harness("regrade", "--all", "shift")
        assert (status, out.splitlines()[-1]) == (0, "1 regraded (1 ACCEPTED), 0 skipped")

    def test_changed_and_missing_files_are_skipped(self, harness: Any, entry: Any) -> None:
        entry("def solution(*_): ...", "idle.py")
        entry(name="changed.py").write_text(HONEST + "# better\n")
        entry(HONEST + "#", name="gone.py").unlink()
        entry(HONEST + "##", name="lost.py", slug="lost")
        status, out, _ = harness("regrade")
        lines = out.splitlines()
        assert status == 1
        assert "skipped   lost · carol/lost · float16: problem gone, or with mistakes" in lines
        assert "skipped   shift · carol/gone · float16: file gone" in lines
        assert (
            "skipped   shift · carol/changed · float16: file changed, submit it yourself" in lines
        )
        assert any(line.startswith("regraded  shift · carol/idle · float16: WR") for line in lines)
        assert lines[-1] == "1 regraded (1 WRONG_ANSWER), 3 skipped"
        status, out, _ = harness("regrade", "lost")
        assert (status, out.splitlines()[-1]) == (1, "0 regraded, 1 skipped")

    def test_a_problem_with_mistakes_says_so(
        self, harness: Any, entry: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HARNESS_PROBLEMS", str(tmp_path / "problems"))
        broken = tmp_path / "problems/shift/problem.md"
        broken.parent.mkdir(parents=True)
        text = (PACKAGES / "shift/problem.md").read_text()
        broken.write_text(text.replace("dtypes:", "dtipes:"))
        entry()
        status, out, err = harness("regrade", "shift")
        assert (status, out.splitlines()[-1]) == (1, "0 regraded, 1 skipped")
        assert "dtipes: unknown key (did you mean dtypes?)" in err

    def test_regrade_refuses_unknown_problems(self, harness: Any) -> None:
        status, out, err = harness("regrade", "shitf")
        assert (status, out, "did you mean shift?" in err) == (2, "", True)
        status, out, _ = harness("regrade", "shift")
        assert (status, out.split(":")[0]) == (0, "nothing to grade again")
