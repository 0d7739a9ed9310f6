"""The commands: exit codes, what goes to stdout and what to stderr, and that a replay replays.

Submissions are graded for real, on a stand-in for torch and a problem that is done in no time.
"""

import csv
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest
from support.corpus import rest_in_corpus
from support.json_schemas import complaints
from support.plain_languages import install_plain_languages

from harness import cli
from harness.commands.problems import STARTER_LANGUAGES
from harness.device import choose as device
from harness.errors import MachineError
from harness.records.result import Result, Verdict
from harness.sandbox import selftest
from harness.session.session import Session
from harness.timing import trusted
from leaderboard.store import Store

ROOT = Path(__file__).parents[1]
PACKAGES = ROOT / "tests/support/packages"
SCHEMA = json.loads((ROOT / "docs/reference/result.schema.json").read_text(encoding="utf-8"))
HONEST = "def solution(x, s, y, n):\n    for i in range(n):\n        y[i] = x[i] + s\n"
# Wrong by a little, and only for some sizes: the case matters.
SUBTLE = HONEST + "    if n > 20:\n        y[n - 2] += 1e-3 + abs(y[0]) / 1000\n"
KEYS = {
    "schema", "problem", "solution", "language", "device", "verdict", "message", "cases",
    "measurements", "score", "environment",
}  # fmt: skip


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def result(self) -> Result:
        (line,) = self.out.splitlines()
        return Result.from_json(line)


Harness = Callable[..., Done]


@pytest.fixture
def harness(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    stand_in_for_torch: None,
) -> Harness:
    """Runs a command in this process, in a directory and with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("HARNESS_PROBLEMS", str(PACKAGES))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(device, "gpu_present", lambda: False)
    install_plain_languages(monkeypatch)

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        capfd.readouterr()
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capfd.readouterr()
        return Done(status, out, err)

    return run


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a submission to the problem `shift`."""

    def make(source: str = HONEST, name: str = "mine.py", author: str = "alice") -> Path:
        path = tmp_path / "solutions/shift" / author / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path.relative_to(tmp_path)

    return make


@pytest.fixture
def functional_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times of the CPU are asked for."""
    monkeypatch.setenv("HARNESS_FUNCTIONAL_TIMES", "1")


FUNCTIONAL = pytest.mark.usefixtures("functional_times")


class TestWithoutAGpu:
    """Nothing of a CPU is shown as a time, unless it is asked for."""

    def test_submit_records_a_verdict_without_times(self, harness: Harness, write: Write) -> None:
        done = harness("submit", write(), "--json", "result.jsonl")
        assert done.status == 0
        result = Result.from_json(Path("result.jsonl").read_text())
        assert (result.accepted, result.score, result.measurements) == (True, None, ())
        assert "score   not timed: without a GPU there are verdicts alone" in done.out
        assert "×" not in done.out
        timed = harness("submit", write(), "--functional-times")
        assert timed.status == 0
        assert "× ±" in timed.out
        assert "not ranked: cpu: functional timing, not a GPU's" in timed.out

    @pytest.mark.corpus
    def test_boards_are_those_of_gpus(self, harness: Harness, write: Write) -> None:
        assert harness("submit", write(), "--functional-times").status == 0
        done = harness("leaderboard", "--csv", "board.csv")
        assert (done.status, done.err) == (0, "")
        said = "no board: 1 accepted result of a CPU and none of a GPU; harness submissions list"
        assert done.out.startswith(said)
        assert len(Path("board.csv").read_text().splitlines()) == 1
        assert json.loads(harness("leaderboard", "--json", "-").out) == []
        shown = harness("leaderboard", "--functional-times")
        assert "alice" in shown.out
        assert "cpu: functional timing" in shown.out
        site = harness("site", "--out", "site")
        assert (site.status, site.out) == (0, "site: 0 boards, 0 entries, 6 problems\n")
        assert "note: no board: 1 accepted result of a CPU" in site.err
        asked = harness("site", "--out", "site", "--functional-times")
        assert asked.out.startswith("site: 1 board, 1 entry")

    def test_which_of_two_is_faster_is_not_guessed(self, harness: Harness, write: Write) -> None:
        files = [write(), write(HONEST + "#", "b.py")]
        done = harness("compare", *files)
        assert (done.status, done.out) == (4, "")
        assert "there is none here: harness check gives their verdicts" in done.err
        assert "--functional-times" in done.err

    def test_further_baselines_are_not_timed(self, harness: Harness, write: Write) -> None:
        done = harness("submit", write(), "--baselines", "all")
        assert (done.status, done.err) == (
            0, "note: --baselines all: without a GPU nothing is timed\n"
        )  # fmt: skip


def test_profiles_are_of_gpus(harness: Harness, write: Write) -> None:
    done = harness("check", write(), "--profile")
    assert done.status == 2
    assert done.out == ""
    assert "--profile: only a GPU's kernels can be profiled" in done.err


@FUNCTIONAL
@pytest.mark.corpus
def test_submit_times_all_baselines_when_asked(
    harness: Harness, write: Write, tmp_path: Path
) -> None:
    package = tmp_path / "packages" / "shift"
    shutil.copytree(PACKAGES / "shift", package)
    (package / "again.py").write_text(HONEST)
    statement = package / "problem.md"
    text = statement.read_text().replace(
        "{plain: baseline.py}", "{plain: baseline.py, again: again.py}"
    )
    assert "again" in text
    statement.write_text(text)
    given = ("submit", write(), "--problems", package.parent, "--json", "result.json")
    assert harness(*given, "--baselines", "all").status == 0
    stored = json.loads((tmp_path / "result.json").read_text())
    (other,) = stored["score"]["other_baselines"]
    assert other["baseline"] == "again"
    assert other["recorded_at"] is None
    done = harness(*given)
    assert "again" not in done.out


class TestExitCodes:
    def test_accepted(self, harness: Harness, write: Write) -> None:
        done = harness("check", write())
        assert done.status == 0, done
        assert done.out.lstrip().startswith("ACCEPTED")

    def test_not_accepted(self, harness: Harness, write: Write) -> None:
        done = harness("check", write("def solution(*_): ..."))
        assert done.status == 1
        assert "WRONG_ANSWER" in done.out
        assert "--case" in done.out

    @pytest.mark.corpus
    def test_a_result_that_is_returned_is_told_to_be_ignored(
        self, harness: Harness, write: Write
    ) -> None:
        done = harness("check", write("def solution(*_):\n    return 1.5\n"), "--json", "-")
        assert done.status == 1
        said = "a number was returned, which is ignored: write into y, as with y.copy_(…)"
        assert said in done.result.message
        assert "custom_kernel(data)" in done.result.message
        assert "arbitrary bits" not in done.result.message
        assert "returned" not in harness("check", write("def solution(*_): ...")).out
        right = HONEST + "    return y\n"
        assert harness("check", write(right, "right.py")).status == 0

    def test_one_of_several_not_accepted(self, harness: Harness, write: Write) -> None:
        files = [write(), write("import os; os._exit(0)\ndef solution(*_): ...", "bad.py")]
        done = harness("check", *files, "--json", "-")
        assert done.status == 1
        verdicts = [Result.from_json(line).verdict for line in done.out.splitlines()]
        assert verdicts == [Verdict.ACCEPTED, Verdict.RUNTIME_ERROR]

    def test_a_file_that_cannot_be_one(self, harness: Harness, write: Write) -> None:
        path = write()
        path.write_bytes(b"\xff\xfe")
        done = harness("check", path, "--problem", "shift", "--json", "-")
        assert done.status == 1
        assert done.result.verdict is Verdict.INVALID_SUBMISSION

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["check"], "Missing argument"),
            (["check", "nowhere.py"], "nowhere.py: no such file"),
            (["check", "mine.py"], "which problem?"),
            (["check", "mine.py", "--problem", "shitf"], "did you mean shift?"),
            (["check", "mine.py", "--problem", "shift", "--dtype", "flaot16"],
             "shift has float32, float16 (did you mean float16?)"),
            (["check", "mine.py", "--problem", "shift", "--device", "tpu"], "tpu"),
            (["check", "mine.py", "--problem", "shift", "--device", "cpu", "--case", "n=1"],
             "no value for s"),
            (["check", "mine.py", "--problem", "shift", "--device", "cpu", "--case", "n=0,s=1"],
             "n must be a whole number"),
            (["check", "mine.py", "--problem", "shift", "--arch", "sm_1"],
             "--arch sm_1: no GPU has that architecture (such as sm_70, sm_72,"),
            (["check", "mine.py", "--problem", "shift", "--arch", "sm_999a"],
             "--arch sm_999a: no GPU has that architecture"),
            (["leaderboard", "shitf"], "no problem 'shitf'"),
            (["check", "empty"], "no .cu, .ptx or .py file in this folder"),
            (["check", "mine.py", "--problems", "nowhere"], "no folder nowhere"),
            (["frobnicate"], "No such command"),
            (["check", "mine.py", "--no-such-option"], "No such option"),
            (["leaderboard", "--csv"], "requires an argument"),
            (["leaderboard", "--csv", "-", "--json", "-"], "only one of both can go to stdout"),
            (["export", "shitf"], "nothing is recorded of shitf"),
        ],
    )  # fmt: skip
    def test_usage(self, harness: Harness, arguments: list[str], words: str) -> None:
        Path("empty").mkdir()
        Path("mine.py").write_text(HONEST)
        done = harness(*arguments)
        assert (done.status, words in done.err) == (2, True), done
        assert done.out == ""
        assert "Traceback" not in done.err

    def test_a_file_that_cannot_be_read_is_named(self, harness: Harness) -> None:
        Path("latin.py").write_bytes(b"# caf\xe9\n")
        done = harness("check", "latin.py", "--problem", "shift")
        assert done.status == 1
        assert done.out.startswith("INVALID_SUBMISSION  shift · latin.py · float32 · ")

    def test_a_machine_error_has_its_exit_code(self, harness: Harness, write: Write) -> None:
        Path("broken.sqlite").write_text("no data base at all, but long enough to be taken for one")
        done = harness("submit", write(), "--store", "broken.sqlite")
        assert done.status == 3
        assert "broken.sqlite" in done.err
        assert "Traceback" not in done.err

    def test_an_internal_error_has_its_exit_code(
        self, harness: Harness, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.solution.files.solution_files", lambda _: 1 / 0)
        done = harness("check", write())
        assert done.status == 3
        assert "Traceback" not in done.err
        log = re.search(r"details in (\S+)", done.err)
        assert log is not None
        assert "ZeroDivisionError" in Path(log[1]).read_text()
        Path(log[1]).unlink()

    def test_a_gpu_that_is_not_there_has_an_exit_code_of_its_own(
        self, harness: Harness, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import torch

        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        done = harness("check", write(), "--device", "cuda")
        assert (done.status, done.out) == (4, "")
        assert "--device cpu" in done.err

    def test_an_interrupt_ends_with_its_exit_code(
        self, harness: Harness, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupt(_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("harness.solution.files.solution_files", interrupt)
        assert harness("check", write()).status == 130


@pytest.mark.corpus
class TestLimit:
    @pytest.fixture
    def two(self, write: Write) -> Path:
        write(name="a.py")
        write("import time\n\ndef solution(*_):\n    time.sleep(60)\n", name="b.py")
        return Path("solutions")

    def test_what_is_left_is_named_and_what_is_done_recorded(
        self, harness: Harness, two: Path
    ) -> None:
        done = harness("submit", two, "--limit-s", 8, "--json", "results.jsonl", "--no-shrink")
        assert done.status == 3
        assert "not graded: solutions/shift/alice/b.py" in done.err
        assert "--limit-s 8 is over" in done.err
        assert "--resume" in done.err
        with Store.open() as store:
            recorded = [each.solution.name for each in store.results()]
        written = Path("results.jsonl").read_text().splitlines()
        assert [Result.from_json(line).solution.name for line in written] == recorded
        assert ("a.py" in done.err) is (recorded == [])

    def test_resume_goes_on(self, harness: Harness, two: Path) -> None:
        harness("submit", two / "shift/alice/a.py")
        done = harness("submit", two, "--limit-s", 2, "--resume")
        assert done.status == 3
        assert "1 not graded" in done.err
        assert "not graded: solutions/shift/alice/a.py" not in done.err

    def test_more_time_than_is_needed_changes_nothing(self, harness: Harness, write: Write) -> None:
        done = harness("check", write(), "--limit-s", "1e6")
        assert (done.status, done.err) == (0, "")

    @pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "much"])
    def test_no_length_of_time(self, seconds: str, harness: Harness, write: Write) -> None:
        assert harness("check", write(), "--limit-s", seconds).status == 2

    def test_watching_has_no_limit(self, harness: Harness, write: Write) -> None:
        done = harness("check", write(), "--limit-s", 5, "--watch")
        assert done.status == 2
        assert "--watch" in done.err


class TestSeveral:
    def test_a_line_for_what_is_accepted_and_all_of_a_failure(
        self, harness: Harness, write: Write
    ) -> None:
        write()
        write(HONEST + "# b", "b.py")
        write("def solution(*_): ...", "wrong.py")
        done = harness("submit", "solutions")
        assert done.status == 1
        lines = done.out.splitlines()
        assert lines[0] == "ACCEPTED  shift · alice/b · pytorch · float32"
        assert lines[1].startswith("ACCEPTED  shift · alice/mine")
        assert lines[2].startswith("WRONG_ANSWER  shift · alice/wrong")
        assert [line.split()[0] for line in lines[3:]][::2][:2] == ["reason", "case"]
        assert done.err.splitlines() == [
            "all of each: harness submissions list, harness submissions show ID",
            "3 files: 2 ACCEPTED, 1 WRONG_ANSWER",
        ]
        checked = harness("check", "solutions/shift/alice/b.py", "solutions/shift/alice/mine.py")
        assert checked.status == 0
        assert len(checked.out.splitlines()) == 2
        assert checked.err == "all of each: --json FILE\n2 files: 2 ACCEPTED\n"

    def test_one_line_has_the_score(self, harness: Harness, write: Write) -> None:
        files = [write(), write(HONEST + "# b", "b.py")]
        done = harness("submit", *files, "--functional-times", "--json", "all.jsonl")
        assert done.status == 0
        for line in done.out.splitlines():
            assert re.search(r"· float32 · \S+× ± \S+ over plain · not ranked$", line)
        assert done.err.splitlines()[0] == "all of each is in all.jsonl"

    def test_one_file_is_shown_whole(self, harness: Harness, write: Write) -> None:
        done = harness("check", write().parent)
        assert "cases   " in done.out
        assert done.err == ""


class TestJson:
    @FUNCTIONAL
    def test_one_object_on_stdout_and_nothing_else(self, harness: Harness, write: Write) -> None:
        done = harness("submit", write(), "--json", "-")
        assert done.status == 0, done
        assert done.out.count("\n") == 1
        assert set(json.loads(done.out)) >= KEYS
        assert complaints(json.loads(done.out), SCHEMA) == []
        result = done.result
        assert result.verdict is Verdict.ACCEPTED
        assert (result.problem.slug, result.solution.author) == ("shift", "alice")
        assert (result.device.kind, result.dtype) == ("cpu", "float32")
        assert len(result.measurements) == 2
        assert result.score is not None
        assert not result.score.ranked  # a CPU's time

    def test_into_a_file(self, harness: Harness, write: Write) -> None:
        done = harness("check", write(), "--json", "result.json")
        assert "ACCEPTED" in done.out
        result = Result.from_json(Path("result.json").read_text())
        assert result.accepted
        assert (result.measurements, result.score) == ((), None)

    def test_what_it_printed_is_in_it_and_nowhere_else(
        self, harness: Harness, write: Write
    ) -> None:
        noisy = "print('\\x1b[31mHELLO')\ndef solution(*_):\n  raise ValueError('\\x1b[2J')\n"
        done = harness("check", write(noisy), "--json", "-")
        assert "HELLO" in done.result.output
        assert "HELLO" not in done.err
        shown = harness("check", write(noisy))
        assert "\x1b[2J" not in shown.out + shown.err


@pytest.mark.corpus
class TestLostStdout:
    """Nobody reads on, as behind ``| head``, or the disk is full."""

    @pytest.fixture
    def unread(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
        def replace() -> None:
            read, write = os.pipe()
            os.close(read)
            monkeypatch.setattr(sys, "stdout", open(write, "w", encoding="utf-8"))  # noqa: SIM115

        return replace

    @pytest.mark.parametrize("as_json", [(), ("--json", "-"), ("--json", "out.jsonl")])
    def test_all_is_graded_and_recorded(
        self, harness: Harness, write: Write, unread: Callable[[], None], as_json: tuple[str, ...]
    ) -> None:
        files = [write(), write(HONEST + "#", "b.py"), write("def solution(*_): ...", "c.py")]
        unread()
        done = harness("submit", *files[:2], *as_json)
        assert (done.status, done.err.count("going on")) == (0, 1), done
        unread()
        done = harness("submit", *files, *as_json)
        assert (done.status, "nobody reads stdout any more; going on" in done.err) == (1, True)
        with Store.open("results.sqlite") as store:
            assert len(list(store.recorded())) == 5
        unread()
        assert harness("check", files[2]).status == 1
        unread()
        assert harness("check", files[0]).status == 0

    @pytest.mark.parametrize("command", ["leaderboard", "export", "problems"])
    def test_others_stop(
        self, harness: Harness, write: Write, unread: Callable[[], None], command: str
    ) -> None:
        assert harness("submit", write()).status == 0
        unread()
        done = harness(command)
        assert (done.status, done.err) == (0, "")

    def test_lost_output_is_an_error(
        self, harness: Harness, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for command in ("submit", "leaderboard", "export"):
            monkeypatch.setattr(sys, "stdout", open("/dev/full", "w", encoding="utf-8"))  # noqa: SIM115
            done = harness(command, *([write()] if command == "submit" else []))
            assert done.status == 3
            assert "error: cannot write stdout: no space left on its disk; make room" in done.err
            assert "internal error" not in done.err
        with Store.open("results.sqlite") as store:
            assert len(list(store.recorded())) == 1


@pytest.mark.corpus
class TestReplay:
    def test_case_and_seed_bring_the_same_mismatch_bit_for_bit(
        self, harness: Harness, write: Write
    ) -> None:
        path = write(SUBTLE)
        # Given seeds: in a case of mostly zeros, two of them could bring the same mismatch.
        first = harness("check", path, "--seed", "5eed", "--json", "-").result
        assert first.verdict is Verdict.WRONG_ANSWER
        failed = first.failed_case
        assert failed is not None
        again = harness(
            "submit", path, "--case", failed.spec, "--seed", first.seed, "--json", "-"
        ).result
        assert again.verdict is Verdict.WRONG_ANSWER
        assert again.failed_case is not None
        assert again.failed_case.spec == failed.spec
        assert again.failed_case.mismatch == failed.mismatch
        assert again.failed_case.mismatch is not None
        assert again.seed == first.seed
        other = harness("check", path, "--case", failed.spec, "--seed", "0dd", "--json", "-").result
        assert other.failed_case is not None
        assert other.failed_case.mismatch != failed.mismatch

    def test_the_command_that_is_printed_is_the_one(self, harness: Harness, write: Write) -> None:
        import shlex

        first = harness("check", write(SUBTLE), "--json", "-").result
        name, *arguments = shlex.split(first.reproduce)
        assert name == "harness"
        again = harness(*arguments, "--json", "-")
        assert again.status == 1
        assert again.result.failed_case is not None
        assert first.shrunk is not None
        assert again.result.failed_case.spec == first.shrunk.case.spec
        assert again.result.failed_case.mismatch == first.shrunk.case.mismatch

    def test_a_smaller_case_is_not_looked_for_where_it_is_not_wanted(
        self, harness: Harness, write: Write
    ) -> None:
        done = harness("check", write(SUBTLE), "--no-shrink", "--json", "-").result
        assert done.shrunk is None
        assert done.failed_case is not None
        assert f"--case {done.failed_case.spec} " in done.reproduce

    def test_a_case_that_was_asked_for_is_the_one_that_is_reported(
        self, harness: Harness, write: Write
    ) -> None:
        path, spec = write("def solution(*_): ..."), "n=33,s=0.5"
        done = harness("submit", path, "--case", spec, "--seed", "5eed")
        assert done.status == 1
        assert f"case    {spec}" in done.out
        assert "input x (33)" in done.out  # the numbers of that very case
        assert "shrunk" not in done.out
        assert done.out.count("n=33") == 2  # and its replay
        again = harness("check", path, "--case", spec, "--json", "-").result
        assert again.failed_case is not None
        assert (again.failed_case.spec, again.message[:20]) == (spec, "33 of 33 elements of")
        assert again.shrunk is not None
        assert again.shrunk.trials == 0
        smaller = harness("check", path, "--case", spec, "--shrink")
        assert smaller.status == 1
        assert "shrunk  the smallest case found that fails" in smaller.out
        assert "case    n=1," in smaller.out
        plain = harness("check", path, "--case", spec, "--no-shrink", "--json", "-").result
        assert plain.shrunk is None

    def test_a_seed_alone_draws_the_same_cases(self, harness: Harness, write: Write) -> None:
        path = write()
        first = harness("check", path, "--json", "-").result
        again = harness("check", path, "--seed", first.seed, "--json", "-").result
        other = harness("check", path, "--json", "-").result
        specs = [[case.spec for case in result.cases] for result in (first, again, other)]
        assert specs[0] == specs[1] != specs[2]

    def test_a_replay_is_no_entry(self, harness: Harness, write: Write) -> None:
        done = harness("submit", write(), "--case", "n=3,s=0.5", "--json", "-")
        assert [case.spec for case in done.result.cases] == ["n=3,s=0.5"]
        assert done.result.measurements == ()
        assert not Path("results.sqlite").exists()


@FUNCTIONAL
class TestLeaderboard:
    def test_from_submission_to_row(self, harness: Harness, write: Write) -> None:
        files = [write(author="alice"), write(author="bob", name="theirs.py")]
        assert harness("submit", "solutions").status == 0
        assert [path.exists() for path in files] == [True, True]
        shown = harness("leaderboard")
        assert shown.status == 0
        assert "alice" in shown.out
        assert "bob" in shown.out
        assert harness("leaderboard", "shift", "--csv", "board.csv", "--all").status == 0
        with open("board.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["author"] for row in rows} == {"alice", "bob"}
        assert {row["device_kind"] for row in rows} == {"cpu"}
        assert {row["rank"] for row in rows} == {""}
        assert all("cpu" in row["unranked_reason"] for row in rows)
        piped = harness("leaderboard", "--csv", "-")
        assert next(csv.reader([piped.out.splitlines()[0]]))[:2] == ["problem", "dtype"]
        as_json = json.loads(harness("leaderboard", "--json", "-").out)
        assert {row["author"] for row in as_json} == {"alice", "bob"}

    @pytest.mark.corpus
    def test_what_was_graded_is_kept(self, harness: Harness, write: Write) -> None:
        good, wrong = write(HONEST + "# café\n"), write("def solution(*_): ...", "wrong.py")
        generation = Path("0.txt")
        generation.write_text("# Model: some/model\n\nI cannot help with that.\n")
        files = {path: path.read_bytes() for path in (good, wrong, generation)}
        assert harness("submit", *files, "--problem", "shift").status == 1
        recorded = json.loads(harness("submissions", "list", "--json").out)
        for path, content in files.items():
            path.unlink()
            digest = hashlib.sha256(content).hexdigest()
            (name,) = (each["id"] for each in recorded if each["solution_hash"] == digest)
            shown = harness("submissions", "show", name, "--source")
            assert (shown.status, shown.out) == (0, content.decode().rstrip("\n") + "\n")
            again = path.with_suffix(".again")
            assert harness("submissions", "show", name, "--source", "--out", again).status == 0
            assert again.read_bytes() == content

    def test_check_records_nothing(self, harness: Harness, write: Write) -> None:
        assert harness("check", write()).status == 0
        assert not Path("results.sqlite").exists()

    @pytest.mark.corpus
    def test_an_interrupted_run_is_resumed(self, harness: Harness, write: Write) -> None:
        wrong = "def solution(*_): ..."
        done_before = [write(), write(wrong, "b.py")]
        assert harness("submit", *done_before).status == 1
        others = [write(HONEST + "#", "c.py"), write(HONEST, "mine.py", author="bob")]
        done = harness("submit", "solutions", "--resume", "--json", "-")
        assert done.status == 1  # what is recorded counts
        graded = [json.loads(line)["solution"] for line in done.out.splitlines()]
        assert [Path(each["path"]) for each in graded] == others
        assert "recorded already: solutions/shift/alice/mine.py (ACCEPTED)" in done.err
        assert "recorded already: solutions/shift/alice/b.py (WRONG_ANSWER)" in done.err
        assert "2 recorded already, 2 to grade" in done.err
        again = harness("submit", "solutions", "--resume")
        assert (again.status, again.out) == (1, "")
        assert "4 recorded already, 0 to grade" in again.err

    def test_nothing_to_resume_changes_nothing(self, harness: Harness, write: Write) -> None:
        done = harness("submit", write(), "--resume")
        assert done.status == 0
        assert "recorded already" not in done.err
        refused = harness("submit", write(), "--resume", "--case", "n=5,s=0.5")
        assert refused.status == 2
        assert "--resume: with --case nothing is recorded" in refused.err

    @pytest.mark.corpus
    def test_a_resumed_file_of_results_has_one_line_for_each(
        self, harness: Harness, write: Write
    ) -> None:
        files = [write(HONEST + "#" * n, f"{n}.py") for n in range(4)]
        out = Path("out.jsonl")
        assert harness("submit", *files[:3], "--json", out).status == 0
        first, second, _ = whole = out.read_bytes().splitlines(keepends=True)
        # A run that was killed: one line is cut off, one was recorded and never written.
        out.write_bytes(first + second[:-20])
        done = harness("submit", *files, "--resume", "--json", out)
        assert done.status == 0, done
        assert "3 recorded already, 1 to grade" in done.err
        lines = out.read_bytes().splitlines(keepends=True)
        assert lines[:3] == whole
        assert [Path(Result.from_json(line.decode()).solution.path) for line in lines] == files
        before = out.read_bytes()
        assert harness("submit", *files, "--resume", "--json", out).status == 0
        assert out.read_bytes() == before
        assert harness("submit", *files, "--resume", "--json", "new.jsonl").status == 0
        assert sorted(Path("new.jsonl").read_bytes().splitlines(True)) == sorted(lines)

    @pytest.mark.corpus
    def test_a_resumed_file_loses_what_no_longer_stands(
        self, harness: Harness, write: Write
    ) -> None:
        file, other, out = write(), write(HONEST, "other.py"), Path("out.jsonl")
        assert harness("submit", file, other, "--json", out).status == 0
        kept = out.read_text().splitlines()[1]
        write("def solution(*_): ...")  # changed since
        done = harness("submit", file, "--resume", "--json", out)
        assert done.status == 1, done
        lines = out.read_text().splitlines()
        assert lines[0] == kept  # of a file that this run was not asked for
        assert [Result.from_json(line).verdict for line in lines[1:]] == [Verdict.WRONG_ANSWER]

    @pytest.mark.parametrize("line", ["{}", "no", "1,2,3"])
    def test_a_file_of_something_else_is_not_resumed(
        self, harness: Harness, write: Write, line: str
    ) -> None:
        Path("out.csv").write_text(f"{line}\n")
        done = harness("submit", write(), "--resume", "--json", "out.csv")
        assert (done.status, "out.csv:1: no result, so --resume cannot" in done.err) == (2, True)
        assert Path("out.csv").read_text() == f"{line}\n"
        assert not harness("submissions", "list", "--json").out.count("solution_hash")

    def test_a_former_file_stays_until_there_is_a_line(
        self, harness: Harness, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("out.jsonl").write_text("former\n" * 10_000)
        with monkeypatch.context() as patch:
            patch.setattr("harness.grading.executor.InProcess.outcomes", lambda *_: 1 / 0)
            assert harness("submit", write(), "--json", "out.jsonl").status == 3
        assert Path("out.jsonl").read_text() == "former\n" * 10_000
        assert harness("submit", write(), "--json", "out.jsonl").status == 0
        (line,) = Path("out.jsonl").read_text().splitlines()
        assert Result.from_json(line).accepted

    @pytest.mark.corpus
    @pytest.mark.parametrize("former", ["", "former\n" * 10_000])
    def test_a_line_that_does_not_fit_is_taken_back(
        self, harness: Harness, write: Write, monkeypatch: pytest.MonkeyPatch, former: str
    ) -> None:
        out = Path("out.jsonl")
        out.write_text(former)

        def half(file: IO[bytes], data: bytes) -> None:
            file.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "full")

        monkeypatch.setattr("harness.commands.results_file._write", half)
        done = harness("submit", write(), "--json", out)
        assert done.status == 3
        assert "cannot write out.jsonl: no space left on its disk" in done.err
        assert "what submit has graded is recorded, so --resume goes on" in done.err
        assert out.read_text() == former
        monkeypatch.undo()

    def test_the_store_may_be_named(self, harness: Harness, write: Write) -> None:
        assert harness("submit", write("def solution(*_): ..."), "--store", "other.db").status == 1
        assert Path("other.db").exists()
        assert not Path("results.sqlite").exists()
        assert harness("leaderboard", "--store", "other.db").status == 0

    @pytest.mark.parametrize(
        ("store", "said"),
        [
            ("folder", "is a folder: name a file"),
            ("mysql://me:secret@host/db", "unknown kind of database; sqlite or postgresql"),
            ("postgresql://host:port/db", "not a database URL"),
        ],
    )
    @pytest.mark.parametrize("command", [["leaderboard"], ["submit", "mine.py"]])
    def test_what_can_be_no_store_is_a_wrong_option(
        self, harness: Harness, command: list[str], store: str, said: str
    ) -> None:
        Path("folder").mkdir()
        Path("mine.py").write_text(HONEST)
        done = harness(*command, "--store", store)
        assert (done.status, done.out) == (2, "")
        assert said in done.err
        assert "(named by --store)" in done.err
        assert "secret" not in done.err

    def test_a_leaderboard_of_an_empty_store(self, harness: Harness) -> None:
        done = harness("leaderboard", "--json", "-")
        assert (done.status, json.loads(done.out)) == (0, [])

    @pytest.mark.parametrize(
        "command",
        [
            ["leaderboard"],
            ["export"],
            ["site", "--out", "site"],
            ["submissions", "list"],
            ["regrade", "--device", "cpu"],
        ],
    )
    def test_a_wrong_name_is_told_and_nothing_made(
        self, harness: Harness, command: list[str]
    ) -> None:
        done = harness(*command, "--store", "typo/results.sqlite")
        assert done.status == 0, done
        assert "typo/results.sqlite: no such file, so nothing is recorded" in done.err
        assert not Path("typo").exists()

    def test_an_export_of_nothing_leaves_the_file(self, harness: Harness) -> None:
        Path("kept.jsonl").write_text("what was exported before\n")
        done = harness("export", "shitf", "--out", "kept.jsonl")
        assert (done.status, "nothing is recorded of shitf" in done.err) == (2, True), done
        assert Path("kept.jsonl").read_text() == "what was exported before\n"


class TestGenerations:
    HEAD = "# Problem: 12_Shift.py\n# Model: some/model\n# Tokens used: 4096\n\n"
    THOUGHT = "<think>\n```python\ndef solution(*_): ...\n```\n"

    def test_code_is_graded_and_the_model_named(self, harness: Harness) -> None:
        Path("runs").mkdir()
        text = f"{self.HEAD}{self.THOUGHT}</think>\n\n```python\n{HONEST}```\n"
        Path("runs/0.txt").write_text(text)
        Path("runs/1.txt").write_text(self.HEAD + self.THOUGHT)
        Path("runs/README.md").write_text("What this is.")
        done = harness("submit", "runs", "--json", "results.jsonl")
        assert done.status == 1, done
        assert "some/model" in done.out
        assert "TRUNCATED_IN_REASONING" in done.out
        with open("results.jsonl") as lines:
            good, bad = (Result.from_json(line) for line in lines)
        assert (good.verdict, good.problem.slug) == (Verdict.ACCEPTED, "shift")
        assert (good.solution.author, good.solution.name) == ("some-model", "0")
        assert good.solution.generation is not None
        assert good.solution.generation.found == "fence"
        assert good.solution.generation.line == 12
        assert (bad.verdict, bad.build, bad.cases) == (Verdict.INVALID_SUBMISSION, None, ())
        assert bad.solution.author == "some-model"
        shown = harness("leaderboard", "--by", "model", "--k", "1,2", "--csv", "models.csv")
        assert "50.0%" in shown.out
        with open("models.csv", newline="") as file:
            (row,) = csv.DictReader(file)
        assert (row["model"], row["samples"], row["pass@1"]) == ("some/model", "2", "0.5")
        assert (row["pass@2"], row["TRUNCATED_IN_REASONING"]) == ("1.0", "1")
        as_json = json.loads(harness("leaderboard", "--by", "model", "--json", "-").out)
        assert as_json[0]["fast_0@1"] == 0.5

    def test_no_judge_starts_for_a_file_without_code(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def never(*_: object) -> None:
            raise AssertionError("nothing is to be built, run or timed")

        monkeypatch.setattr(trusted.TrustedRunners, "start", never)
        monkeypatch.setattr(Session, "__init__", never)
        Path("a.txt").write_text(self.HEAD + self.THOUGHT)
        assert harness("submit", "a.txt").status == 1

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("# Problem: Shft\n# Model: m\n", "did you mean shift?): name one with --problem"),
            ("# Problem: \x1b[31m\n# Model: m\n", "there is none of that name"),
            ("I cannot.", "which problem?"),
        ],
    )
    def test_which_problem(self, harness: Harness, text: str, words: str) -> None:
        Path("a.md").write_text(text)
        done = harness("check", "a.md")
        assert (done.status, words in done.err) == (2, True), done
        assert "\x1b" not in done.err
        named = harness("check", "a.md", "--problem", "shift", "--json", "-")
        assert (named.status, named.result.reason) == (1, "NO_CODE")

    @pytest.mark.parametrize(
        "arguments", [["--k", "0"], ["--k", "a"], ["--p", "-1"], ["--p", "nan"]]
    )
    def test_numbers(self, harness: Harness, arguments: list[str]) -> None:
        done = harness("leaderboard", "--by", "model", *arguments)
        assert (done.status, "a list of numbers" in done.err) == (2, True), done


def test_problems(harness: Harness) -> None:
    done = harness("problems")
    assert done.status == 0
    assert "shift" in done.out
    assert "blend" in done.out
    for command in (["problems"], ["problems", "list"]):
        shipped = harness(*command, "--problems", ROOT / "problems")
        assert "gemm-multiply-leakyrelu" in shipped.out
        assert "shift" not in shipped.out
    again = harness("problems", "--problems", ROOT / "problems", "list")
    assert again.out == shipped.out


def test_one_problem(harness: Harness) -> None:
    done = harness("problems", "show", "shift")
    assert done.status == 0, done
    assert 'extern "C" void solution(' in done.out
    data = json.loads(harness("problems", "show", "shift", "--json").out)
    assert data["slug"] == "shift"
    outer = harness("problems", "--problems", ROOT / "problems", "show", "softmax", "--json")
    assert json.loads(outer.out)["slug"] == "softmax"
    unknown = harness("problems", "show", "shitf")
    assert (unknown.status, "did you mean shift?" in unknown.err) == (2, True)


class TestInit:
    @pytest.mark.parametrize("language", STARTER_LANGUAGES)
    def test_writes_a_file_and_says_what_is_next(self, harness: Harness, language: str) -> None:
        done = harness("init", "shift", "--language", language)
        assert done.status == 0, done
        (path,) = Path("solutions/shift").glob("*/*")
        assert done.out == f"wrote {path}; next:\n    harness check {path}\n"
        again = harness("init", "shift", "--language", language)
        assert (again.status, "--force" in again.err) == (2, True)
        path.write_text("mine")
        assert harness("init", "shift", "--language", language, "--force").status == 0
        assert "shift" in path.read_text()

    def test_the_next_command_judges_it(self, harness: Harness) -> None:
        done = harness("init", "shift", "--language", "python", "--output", "mine.py")
        assert done.out.endswith("harness check mine.py --problem shift\n")
        path = Path("mine.py")
        # The stand-in for torch has no arithmetic on tensors: writing nothing will do here.
        path.write_text(path.read_text().replace("y.copy_(torch.zeros_like(y))", "pass"))
        checked = harness(*done.out.split("harness ")[1].split())
        assert (checked.status, "WRONG_ANSWER" in checked.out) == (1, True), checked

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["init"], "Missing argument"),
            (["init", "shitf"], "did you mean shift?"),
            (["init", "shift", "--output", "mine.py"], "ends in .cu"),
            (["init", "shift", "--language", "rust"], "rust"),
            (["init", "shift", "--language", "ptx"], "samples/vector_add.ptx"),
            (["init", "shift", "--language", "numba", "--output", "a.cu"], "ends in .py"),
            (["init", "shift", "--output", "\x1b[31mno/such\x07/../x.cu"], "cannot write"),
        ],
    )
    def test_usage(self, harness: Harness, arguments: list[str], words: str) -> None:
        Path("\x1b[31mno").write_text("a file, no folder")
        done = harness(*arguments)
        assert (done.status, words in done.err) == (2, True), done
        assert not {"\x1b", "\x07"} & set(done.err)


def test_doctor_prints_findings(harness: Harness) -> None:
    done = harness("doctor")
    assert done.status == 0
    assert "torch" in done.out
    findings = json.loads(harness("doctor", "--json").out)
    assert {"name", "state", "detail", "remedy"} == set(findings[0])


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({"NO_COLOR": "1"}, False), ({"FORCE_COLOR": "1"}, True), ({}, False)],
)
def test_colour(
    harness: Harness,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    coloured: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = harness("check", write())
    assert ("\x1b[" in done.out) is coloured


HOSTILE_NAMES = [
    "[red]bold[bold].py",
    "-rf.py",
    "a b\tc.py",
    "new\nline.py",
    "\x1b[31mred.py",
    "\u202egnp.py",
    "é.py",
    "\udcff.py",
    "'; rm -rf $HOME; '.py",
    "::error::no.py",
    "x" * 250 + ".py",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
def test_hostile_file_names(harness: Harness, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "solutions/shift/eve"
    folder.mkdir(parents=True)
    try:
        (folder / name).write_text(HONEST)
    except (OSError, UnicodeError):
        pytest.skip("this file system does not take it")
    done = harness("check", folder / name, "--problem", "shift")
    assert done.status == 1, done
    assert "INVALID_SUBMISSION" in done.out
    printed = (done.out + done.err).encode("utf-8", "surrogateescape")
    assert b"\x1b" not in printed
    assert b"\xe2\x80\xae" not in printed
    as_json = harness("check", folder, "--problem", "shift", "--json", "-")
    assert as_json.result.verdict is Verdict.INVALID_SUBMISSION


@pytest.mark.parametrize("name", ["\x1b]0;red\x07.py", "x" * 300 + ".py", "a/b\x1bc.cu"])
def test_names_of_files_that_are_not_there(harness: Harness, name: str) -> None:
    done = harness("check", name)
    assert done.status == 2, done
    assert "\x1b" not in done.err


@pytest.mark.parametrize("option", ["--json", "--csv"])
def test_an_output_that_cannot_be_written(harness: Harness, option: str) -> None:
    done = harness("leaderboard", option, "/no/such/folder/out")
    assert done.status == 2
    assert "/no/such/folder/out" in done.err


def test_an_author_may_be_named(harness: Harness, write: Write) -> None:
    done = harness("check", write(), "--author", "carol", "--json", "-")
    assert done.result.solution.author == "carol"
    hostile = harness("check", write(), "--author", "[red]\x1b[31m", "--json", "-")
    assert hostile.status in (1, 2)
    assert "\x1b" not in hostile.err


# -- in a process of its own -----------------------------------------------------------------------


def started(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["check", "--help"], ["--version"], ["check", "x"], ["problems", "show", "shift"]],
)
def test_nothing_heavy_is_imported_for_nothing(arguments: list[str]) -> None:
    code = (
        "import sys, json, contextlib, io\n"
        "from harness.cli import main\n"
        f"sys.argv = {['harness', *arguments]!r}\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    modules = set(json.loads(done.stderr.splitlines()[-1]))
    heavy = {"torch", "triton", "pandas", "numpy"}
    if arguments[-1] in ("--help", "--version"):
        heavy |= {"pydantic", "rich", "sqlalchemy", "yaml"}
    assert not heavy & modules


def test_help_and_version() -> None:
    done = started("--help", cwd=ROOT)
    assert done.returncode == 0
    for command in (
        "submit",
        "check",
        "compare",
        "regrade",
        "problems",
        "init",
        "leaderboard",
        "doctor",
    ):
        assert command in done.stdout
    assert "Exit codes: 0 accepted" in done.stdout
    assert started("--version", cwd=ROOT).stdout.startswith("harness, version ")


def test_a_reader_that_stops_reading_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "from harness.cli import main; main()", "problems"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read().decode()
    assert "Traceback" not in error
    assert process.returncode == 0
    assert error == ""


def test_output_that_is_not_utf_8() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = started("problems", cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr


@FUNCTIONAL
@pytest.mark.parametrize("command", rest_in_corpus(["check", "submit", "compare", "regrade"]))
def test_a_sandbox_can_be_demanded(
    harness: Harness, write: Write, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    files = [] if command == "regrade" else [write(HONEST)] * (2 if command == "compare" else 1)
    monkeypatch.setattr(selftest, "breaches", lambda: ["use the network"])
    done = harness(command, *files, "--require-sandbox")
    assert done.status == MachineError.exit_code
    assert "a submission can use the network; harness doctor says what to do" in done.err
    monkeypatch.setenv("HARNESS_REQUIRE_SANDBOX", "1")
    assert harness(command, *files).status == MachineError.exit_code
    monkeypatch.setattr(selftest, "breaches", list)
    assert harness(command, *files).status == 0


@pytest.mark.corpus
def test_a_file_that_names_a_card_is_told_where_it_ran(harness: Harness, write: Write) -> None:
    done = harness("check", write(HONEST + "    device = 'cuda'\n"), "--device", "cpu")
    assert done.status == 0
    assert "note    the file names the device 'cuda', which is the CPU here" in done.out
