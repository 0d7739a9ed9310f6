"""Reports that come from anybody: what is taken over, and what is refused."""

import csv
import hashlib
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.corpus import rest_in_corpus
from support.repositories import CI, GOOD, Repo

from harness import cli
from harness.ci import publish
from leaderboard.store import Store

PATH = "solutions/vector-add/alice/second.py"


class Done(NamedTuple):
    status: int
    out: str
    err: str


Publish = Callable[..., Done]


@pytest.fixture
def call(repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Publish:
    def run(*arguments: object) -> Done:
        monkeypatch.chdir(repo.folder)
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        capfd.readouterr()
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        return Done(status, *capfd.readouterr())

    return run


class Given(NamedTuple):
    """A commit, a report about it, and a store."""

    head: str
    report: Path
    store: Path

    def change(self, work: Callable[[dict[str, Any]], object]) -> None:
        """Forge the report."""
        data = json.loads(self.report.read_text(encoding="utf-8"))
        work(data)
        self.report.write_text(json.dumps(data), encoding="utf-8")

    @property
    def arguments(self) -> list[object]:
        return [
            *("publish", self.report, "--head", self.head),
            *("--measured-by", "the big runner", "--store", self.store),
        ]

    def stored(self) -> list[Any]:
        with Store.open(str(self.store)) as store:
            return list(store.results())


@pytest.fixture
def given(repo: Repo, ci: CI, tmp_path: Path) -> Given:
    repo.write(PATH, GOOD + "# mine\n")
    head = repo.commit()
    ended = ci(author="alice")
    return Given(head, ended.out / "report.json", tmp_path / "board.sqlite")


def test_a_report_becomes_a_row_of_a_board(call: Publish, given: Given, tmp_path: Path) -> None:
    comment = tmp_path / "comment.md"
    done = call(*given.arguments, "--comment", comment)
    assert (done.status, done.out) == (0, f"{PATH}: recorded\n")
    (result,) = given.stored()
    assert result.solution.hash == hashlib.sha256((GOOD + "# mine\n").encode()).hexdigest()
    assert result.notes[-1] == "published from a report; measured by the big runner"
    text = comment.read_text(encoding="utf-8")
    assert text.startswith("<!-- kernel-harness: measured -->\nMeasured by `the big runner`, whose")
    call(*given.arguments)
    assert len(given.stored()) == 1
    board = tmp_path / "board.csv"
    assert call("leaderboard", "--store", given.store, "--csv", board).status == 0
    with board.open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["author"], row["solution"], row["rank"]) == ("alice", "second", "1")


def test_a_comment_needs_no_store(call: Publish, given: Given, tmp_path: Path) -> None:
    comment = tmp_path / "comment.md"
    done = call("publish", given.report, "--head", given.head, "--comment", comment)
    assert done.status == 0
    text = comment.read_text(encoding="utf-8")
    assert text.startswith("<!-- kernel-harness: reported -->\nAs a job of the pull request says")
    assert not given.store.exists()


def forge_problem(data: dict[str, Any]) -> None:
    data["graded"][0]["result"]["problem"]["hash"] = "easier"


def forge_date(data: dict[str, Any]) -> None:
    data["graded"][0]["result"]["created"] = (datetime.now(UTC) + timedelta(days=1)).isoformat()


def forge_cpu(data: dict[str, Any]) -> None:
    data["graded"][0]["result"]["device"]["kind"] = "cpu"


def forge_nothing_named(data: dict[str, Any]) -> None:
    data["graded"][0]["result"]["solution"]["hash"] = ""


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (forge_problem, "it is about another version of the problem"),
        (forge_date, "it was made in the future"),
        (forge_cpu, "times of a CPU are not ranked"),
        (forge_nothing_named, "it does not say which file it is about"),
    ],
)
def test_unfit_results_are_not_recorded(
    forge: Callable[[dict[str, Any]], None], reason: str, call: Publish, given: Given
) -> None:
    given.change(forge)
    done = call(*given.arguments)
    assert (done.status, done.out) == (0, f"{PATH}: not recorded: {reason}\n")
    assert given.stored() == []


def test_verdicts_without_times_are_not_recorded(
    repo: Repo, ci: CI, call: Publish, given: Given
) -> None:
    ci(author="alice", check_only=True)
    done = call(*given.arguments)
    assert done.out == f"{PATH}: not recorded: ACCEPTED, and nothing was timed\n"


def result_of(data: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = data["graded"][0]["result"]
    return result


@pytest.mark.parametrize(
    ("changes", "reason"),
    rest_in_corpus(
        [
            ({"created": "0001-01-01T00:00:00Z"}, "it was made more than 7 days before its report"),
            ({"created": "2026-03-01T00:00:00Z"}, "it was made more than 7 days before its report"),
            ({"dtype": "float9"}, "the problem has no data type float9"),
            ({"id": "../../x"}, "is none that a harness gives"),
            ({"id": "a" * 5000}, "is none that a harness gives"),
            ({"id": "a\0"}, "is none that a harness gives"),
            ({"language": "cuda"}, "files like this are not in the language cuda"),
            ({"language": "made up"}, "files like this are not in the language made up"),
            ({"harness": "../../x"}, "is no version of the harness"),
            ({"score": 1.4}, "is not the mean of its shapes"),
            ({"time_s": 1e-9}, "is not the mean of its shapes"),
        ],
        always=3,
    ),
)
def test_what_no_harness_writes_is_not_recorded(
    changes: dict[str, Any], reason: str, call: Publish, given: Given
) -> None:
    def forge(data: dict[str, Any]) -> None:
        result = result_of(data)
        for key, value in changes.items():
            if key == "score":
                result["score"]["speedup"] = dict.fromkeys(("value", "low", "high"), value)
            elif key == "time_s":
                result["score"]["time_s"] = value
            elif key == "harness":
                result["environment"]["harness"] = value
            else:
                result[key] = value
        if "language" in changes:
            result["solution"]["language"] = changes["language"]

    given.change(forge)
    done = call(*given.arguments)
    assert done.status == 0
    assert done.out.startswith(f"{PATH}: not recorded: ")
    assert reason in done.out
    assert given.stored() == []


def test_reports_are_not_dated_before_their_commit(call: Publish, given: Given) -> None:
    old = (datetime.now(UTC) - timedelta(days=2)).isoformat()

    def forge(data: dict[str, Any]) -> None:
        data["created"] = result_of(data)["created"] = old

    given.change(forge)
    done = call(*given.arguments)
    assert done.out == f"{PATH}: not recorded: it was made before the commit that it is about\n"
    late = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    given.change(lambda data: data.update(created=late))
    assert "it was made in the future" in call(*given.arguments).out


def test_a_commit_of_a_clock_that_is_ahead_is_recorded(
    repo: Repo, ci: CI, call: Publish, given: Given
) -> None:
    repo.git("commit", "--quiet", "--amend", "--no-edit", "--date=2099-01-01")
    tree = repo.git("rev-parse", "HEAD^{tree}")
    raw = repo.git("cat-file", "commit", "HEAD")
    ahead = re.sub(r"(committer .*> )\d+", r"\g<1>4070908800", raw)
    assert tree in ahead
    head = repo.git("hash-object", "-t", "commit", "-w", "--stdin", given=ahead.encode() + b"\n")
    repo.git("reset", "--quiet", "--hard", head)
    ended = ci(author="alice", head=head)
    assert ended.status == 0
    assert call(*given._replace(head=head).arguments).out == f"{PATH}: recorded\n"


def test_a_report_that_names_nobody_is_not_recorded(ci: CI, call: Publish, given: Given) -> None:
    ci()
    done = call(*given.arguments)
    assert (done.status, "with --author" in done.err, "--any-author" in done.err) == (2, True, True)
    assert not given.store.exists()
    assert call(*given.arguments, "--any-author").out == f"{PATH}: recorded\n"
    assert call(*given.arguments, "--author", "a", "--any-author").status == 2


@pytest.mark.parametrize("login", ["mallory", "", "bob", "alice2", "\uff41lice"])
@pytest.mark.parametrize("named", rest_in_corpus([True, False]))
def test_files_of_others_are_not_recorded(
    login: str, named: bool, ci: CI, call: Publish, given: Given
) -> None:
    ci(author="alice" if named else None)
    done = call(*given.arguments, "--author", login)
    assert done.status == 2
    assert "--author" in done.err
    assert not given.store.exists()
    given.change(lambda data: data.update(author=login))
    assert call(*given.arguments, "--author", login).status == 2
    assert not given.store.exists()


@pytest.mark.parametrize("login", ["alice", "ALICE", "Alice"])
def test_the_host_may_spell_an_author_in_another_way(
    login: str, call: Publish, given: Given
) -> None:
    assert call(*given.arguments, "--author", login).out == f"{PATH}: recorded\n"


def test_a_spelling_of_ones_own_has_no_row(repo: Repo, ci: CI, call: Publish, given: Given) -> None:
    path = PATH.replace("alice", "ALICE")
    repo.git("checkout", "--quiet", "-B", "pr", "main")
    repo.write(path)
    head = repo.commit()
    repo.git("checkout", "--quiet", "main")
    ci(head=head, any_author=True)
    again = given._replace(head=head)
    for login in ("alice", "ALICE", "Alice"):
        done = call(*again.arguments, "--author", login)
        assert (done.status, f"{path} is not in the folder alice" in done.err) == (2, True)


def test_notes_are_words_of_the_machine(call: Publish, given: Given) -> None:
    note = "published from a report; measured by the organisers"
    given.change(lambda data: result_of(data).update(notes=[note]))
    assert call(*given.arguments).status == 0
    (result,) = given.stored()
    assert result.notes == (
        f"the machine that graded it says: {note}",
        "published from a report; measured by the big runner",
    )


def test_a_report_that_another_published_is_there_already(call: Publish, given: Given) -> None:
    assert call(*given.arguments).out == f"{PATH}: recorded\n"
    again = [*given.arguments, "--measured-by", "somebody"]
    done = call(*again)
    assert (done.status, done.out) == (
        0,
        f"{PATH}: not recorded: it is there already: published from a report; measured by the big "
        "runner\n",
    )
    given.change(lambda data: result_of(data).update(output="other"))
    done = call(*again)
    assert (done.status, done.out) == (
        0,
        f"{PATH}: not recorded: another result with its id is there\n",
    )
    assert len(given.stored()) == 1


def test_a_check_shows_no_times(call: Publish, given: Given, tmp_path: Path) -> None:
    comment = tmp_path / "comment.md"
    assert call("publish", given.report, "--head", given.head, "--comment", comment).status == 0
    text = comment.read_text(encoding="utf-8")
    assert "| `ACCEPTED` |" in text
    assert "checked, not timed" in text
    assert "1.31" not in text
    assert "PyTorch eager" not in text
    call(*given.arguments, "--comment", comment)
    assert "1.31" in comment.read_text(encoding="utf-8")


def test_a_link_in_the_commit_is_no_submission(repo: Repo, call: Publish, given: Given) -> None:
    head = repo.commit_entry("120000", PATH, (GOOD + "# mine\n").encode())
    given.change(lambda data: data.update(head=head))
    done = call(*given._replace(head=head).arguments)
    assert (done.status, "has no such file" in done.err) == (2, True)


def test_no_author_beside_a_file_is_refused(call: Publish, given: Given) -> None:
    given.change(lambda data: result_of(data)["solution"].update(author="", name=""))
    done = call(*given.arguments)
    assert (done.status, "names another author or file" in done.err) == (2, True)


def forge_hash(data: dict[str, Any]) -> None:
    data["graded"][0]["result"]["solution"]["hash"] = "0" * 64


def forge_file(data: dict[str, Any]) -> None:
    graded = data["graded"][0]
    graded["path"] = graded["result"]["solution"]["path"] = PATH.replace("second", "third")
    graded["result"]["solution"]["name"] = "third"


def forge_head(data: dict[str, Any]) -> None:
    data["head"] = "f" * 40


def forge_outcome(data: dict[str, Any]) -> None:
    data["outcome"] = "refused"


def forge_speed(data: dict[str, Any]) -> None:
    data["graded"][0]["result"]["score"]["speedup"] = {"value": 1e9, "low": 1e10, "high": 1e11}


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (forge_hash, "the report is about another version of this file"),
        (forge_file, "has no such file"),
        (forge_head, f"the report is about {'f' * 40}, not about --head"),
        (forge_outcome, "outcome: 'refused', and it is 'accepted'"),
        (forge_speed, "graded.0.result.score.speedup: "),
        (lambda data: data.update({"\x1b[2J::error::x": 1}), "Extra inputs are not permitted"),
    ],
)
def test_forged_reports_are_refused(
    forge: Callable[[dict[str, Any]], None], words: str, call: Publish, given: Given
) -> None:
    given.change(forge)
    done = call(*given.arguments)
    assert done.status == 2
    assert words in done.err
    assert "\x1b" not in done.err
    assert "::error" not in done.err
    assert not given.store.exists() or given.stored() == []


def test_a_file_too_large_in_the_commit_is_refused(repo: Repo, call: Publish, given: Given) -> None:
    repo.write(PATH, b"#" * (2 << 20))
    head = repo.commit()
    given.change(lambda data: data.update(head=head))
    done = call(*given._replace(head=head).arguments)
    assert (done.status, "2,097,152 bytes there" in done.err) == (2, True)


def test_files_that_are_no_reports_are_refused(call: Publish, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert "cannot be read" in call("publish", file).err
    for content in (b"", b"\xff", b"{}", b"[" * 100_000):
        file.write_bytes(content)
        done = call("publish", file)
        assert done.status == 2
        assert "not a report of this harness" in done.err


def test_a_report_that_is_too_large_is_refused(
    call: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "MAX_REPORT_BYTES", 1 << 20)
    file = tmp_path / "report.json"
    file.write_bytes(b" " * (1 << 20) + b"{}")
    assert "is larger than 1 MiB" in call("publish", file).err


def test_recording_needs_the_commit(call: Publish, given: Given) -> None:
    done = call("publish", given.report, "--measured-by", "me", "--store", given.store)
    assert (done.status, "name the commit with --head" in done.err) == (2, True)
    gone = given.report.read_text().replace(given.head, "e" * 40)
    given.report.write_text(gone)
    done = call(*given._replace(head="e" * 40).arguments)
    assert (done.status, "no such commit here" in done.err) == (2, True)


def test_ci_refuses_wrong_options(call: Publish, given: Given) -> None:
    done = call("ci", "--base", "main", "--author", "a", "--any-author")
    assert (done.status, "one of them" in done.err) == (2, True)
    assert call("ci").err.startswith("error: what is it compared with?")
