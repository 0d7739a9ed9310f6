"""What a stranger's file may do to a store by being imported: add marked results, no more."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.corpus import rest_in_corpus
from support.samples import failed, result, score

from harness import cli
from harness.commands.exchange import read_lines, write_lines
from harness.records.refs import SolutionRef
from harness.records.result import Result
from harness.records.ruling import Action, Ruling, rule
from leaderboard.store import Store

Run = Callable[..., tuple[int, str, str]]
SHARED = {"solution_hash": "s-alice"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """The command on a store in which alice (2×) and bob (1.5×) were graded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "s.sqlite"))
    with Store.open() as store:
        store.add(result(id="alice1", author="alice", speedup=2.0, **SHARED))
        store.add(result(id="bob1", author="bob", speedup=1.5))

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *words])
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capfd.readouterr()
        return status, out, err

    return run


def lines(*entries: Result | Ruling, name: str = "theirs.jsonl") -> str:
    with Path(name).open("w", encoding="utf-8") as file:
        write_lines(entries, file)
    return name


def board(run: Run) -> list[tuple[str, float, str]]:
    status, out, err = run("leaderboard", "--json", "-")
    assert status == 0, err
    return [(row["author"], row["speedup"], row["origin"]) for row in json.loads(out)]


OURS = [("alice", 2.0, ""), ("bob", 1.5, "")]


@pytest.mark.parametrize(
    "line",
    [
        failed(author="alice", minutes=60, **SHARED),
        failed(author="ALICE", minutes=60, **SHARED),
        result(author="alice", speedup=0.5, minutes=60, **SHARED),
        result(author="Alice", speedup=9.0, minutes=60, **SHARED),
        rule("alice1", Action.INVALIDATED, who="the organisers", reason="cheat"),
    ],
    ids=["withdraws", "withdraws-by-case", "lowers", "raises", "rules"],
)
def test_it_rules_over_nothing_that_was_graded_here(run: Run, line: Result | Ruling) -> None:
    status, _, err = run("import", lines(line))
    assert status == 0, err
    assert "boards:" not in err
    assert board(run) == OURS


def test_rulings_are_taken_where_asked_for(run: Run) -> None:
    run("submissions", "invalidate", "bob1", "--reason", "late")
    undone = rule("bob1", Action.REINSTATED, who="the organisers")
    against = rule("alice1", Action.INVALIDATED, who="the organisers", reason="cheat")
    file = lines(undone, against)
    assert run("import", file) == (
        0,
        "",
        "0 results\n2 rulings left out; --rulings takes what rulings say\n",
    )
    assert [each[0] for each in board(run)] == ["alice"]
    status, _, err = run("import", "--rulings", file)
    assert (status, err) == (0, "0 results, 2 rulings\nboards: 1 row added, 0 changed, 1 gone\n")
    assert [each[0] for each in board(run)] == ["bob"]


def test_what_does_not_count_by_the_file_itself_is_left_out_with_its_ruling(run: Run) -> None:
    cheat, fair = result(id="cheat", author="eve", speedup=9.0), result(id="fair", author="eve")
    ruling = rule("cheat", Action.INVALIDATED, who="carol", reason="remembers")
    again = rule("fair", Action.INVALIDATED, who="carol", reason="remembers")
    back = rule("fair", Action.REINSTATED, who="carol")
    status, _, err = run("import", lines(cheat, fair, ruling, again, back))
    assert (status, err.splitlines()[:2]) == (
        0,
        [
            "1 result",
            "3 rulings and 1 result that do not count by them left out; --rulings takes what "
            "rulings say",
        ],
    )
    assert ("eve", 1.31, "theirs.jsonl") in board(run)


@pytest.mark.corpus
def test_what_it_adds_is_marked_everywhere(run: Run, tmp_path: Path) -> None:
    status, _, err = run("import", lines(result(id="m1", author="mallory", speedup=1e6)))
    assert (status, err) == (0, "1 result\nboards: 1 row added, 0 changed, 0 gone\n")
    assert board(run) == [("mallory", 1e6, "theirs.jsonl"), *OURS]
    said = "imported from theirs.jsonl"
    assert f"{said}: mallory/" in run("leaderboard")[1]
    assert f"– m1: {said}" in run("submissions", "list")[1]
    assert said in run("submissions", "show", "m1")[1]
    assert json.loads(run("submissions", "show", "m1", "--json")[1])["result"]["origin"]
    listed = json.loads(run("submissions", "list", "--json")[1])
    assert {each["id"]: each["origin"] for each in listed} == {
        "m1": "theirs.jsonl",
        "alice1": "",
        "bob1": "",
    }
    assert run("site", "--out", "site")[0] == 0
    pages = [page.read_text() for page in Path("site").rglob("*.html")]
    assert sum(said in page or "<dt>imported from" in page for page in pages) == 2


def test_imported_results_go_by_the_newest_among_themselves(run: Run) -> None:
    about = {"author": "eve", "solution_hash": "s-eve"}
    run("import", lines(result(speedup=3.0, **about)))
    run("import", lines(result(speedup=2.5, minutes=5, **about), name="later.jsonl"))
    assert ("eve", 2.5, "later.jsonl") in board(run)
    with Store.open() as store:  # graded here, though before
        store.add(result(speedup=1.1, minutes=-60, **about))
    assert ("eve", 1.1, "") in board(run)


def test_a_version_of_the_problem_that_only_a_file_knows_is_not_the_current_one(run: Run) -> None:
    run("import", lines(result(author="eve", problem_hash="p2", minutes=60, speedup=7.0)))
    ranks = {row["author"]: row["rank"] for row in json.loads(run("leaderboard", "--json", "-")[1])}
    assert ranks == {"alice": 1, "bob": 2, "eve": None}


def _named(author: str) -> Result:
    ref = SolutionRef(author=author, name="a", language="cuda", hash="x", path="")
    return result(solution=ref)


_NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("line", "told"),
    rest_in_corpus([
        (result(created=_NOW + timedelta(days=1)), "in the future"),
        (result(problem="../x"), "the problem"),
        (result(score=score(1e6)), "is not the mean of its shapes"),
        (rule("../x", Action.REINSTATED, who="a"), "the result"),
        *((_named(name), "author") for name in (
            "", "а" + "lice", "alice ", " alice", "a" * 5000, "a\0", "a\nb", "alice\u202e",
            "\uff21lice", "José", "../x", "-a",
        )),
        (result(created=datetime(9999, 12, 31, tzinfo=UTC)), "in the future"),
        (result(created=datetime(1, 1, 1, tzinfo=UTC)), "before there was a harness"),
        (result(created=datetime(2019, 12, 31, tzinfo=UTC)), "before there was a harness"),
        *((result(id=name), "the id") for name in ("../../x", "a" * 5000, "a\0", " a", "é")),
        (result(dtype="float 32"), "data type"),
        (result(harness="../../x"), "no version of the harness"),
        (result(score=score(1.31, time_s=1e-9)), "is not the mean of its shapes"),
        (rule("x", Action.REINSTATED, who="a\u202eb"), "who ruled"),
        (rule("x", Action.REINSTATED, who=" a"), "who ruled"),
    ], always=5),
)  # fmt: skip
def test_what_no_harness_says_is_refused_with_its_line(
    run: Run, line: Result | Ruling, told: str
) -> None:
    file = lines(result(id="good", author="eve"), line)
    status, _, err = run("import", "--rulings", file)
    assert status == 2
    assert err.startswith("error: theirs.jsonl:2: ")
    assert told in err
    assert err.rstrip().endswith("--trust takes it all the same; nothing was imported")
    assert board(run) == OURS
    assert run("import", "--trust", file)[0] == 0
    for words in (["leaderboard"], ["submissions", "list"]):
        assert run(*words)[0] == 0


def test_a_backup_comes_back_as_it_was(run: Run) -> None:
    run("import", lines(result(id="m1", author="mallory")))
    run("submissions", "invalidate", "bob1", "--reason", "late", "--by", "the organisers")
    assert run("export", "--out", "one.jsonl")[0] == 0
    assert run("import", "--trust", "one.jsonl", "--store", "new.sqlite")[0] == 0
    assert run("export", "--out", "two.jsonl", "--store", "new.sqlite")[0] == 0
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


def test_what_is_there_already_stays_whoever_brings_it(run: Run) -> None:
    assert run("export", "--out", "own.jsonl")[0] == 0
    for words in (["own.jsonl"], ["own.jsonl"], ["--trust", "own.jsonl"]):
        assert run("import", *words) == (0, "", "2 results\n")
    assert board(run) == OURS
    twice = [lines(result(id="m1", author="mallory"), name=name) for name in ("a.jsonl", "b.jsonl")]
    Path("b.jsonl").write_bytes(Path("a.jsonl").read_bytes())
    for _ in range(2):
        assert run("import", *twice)[2].startswith("2 results\n")
    assert len(board(run)) == 3
    other = next(iter(read_lines(Path("own.jsonl"))))
    assert isinstance(other, Result)
    forged = other.model_copy(update={"message": "forged"})
    status, _, err = run("import", lines(forged))
    assert (status, "a different result with id 'alice1' is already there" in err) == (3, True)


def test_a_new_name_that_looks_like_a_recorded_one_is_told(run: Run) -> None:
    err = run("import", lines(result(author="aIice"), result(author="B0B"), result(author="Bob")))[
        2
    ]
    assert "note: the author B0B is new and looks like bob" in err
    assert "note: the author aIice is new and looks like alice" in err
    assert "Bob is new" not in err


def test_spellings_of_a_name_are_one_author(run: Run) -> None:
    with Store.open() as store:
        for name in ("Alice", "ALICE", "\uff21lice", "alice "):  # of older harnesses, too
            store.add(result(author=name, speedup=2.5, minutes=9))
    assert board(run) == [("alice", 2.5, ""), ("bob", 1.5, "")]
    assert run("submissions", "list", "--author", "ALICE", "--json")[1].count('"alice1"') == 1
    with Store.open() as store:
        store.add(_named("а" + "lice"))
    assert r"\u0430lice" in run("leaderboard")[1]


def test_delete_takes_ones_own_in_any_spelling(run: Run) -> None:
    assert run("submissions", "delete", "bob1", "--author", "BOB", "--yes")[0] == 0
    assert [each[0] for each in board(run)] == ["alice"]


def test_what_was_imported_stands_for_no_file_of_a_run(run: Run) -> None:
    from harness.grading.resume import RecordedResults

    about: dict[str, Any] = {"author": "me"}
    own = result(**about)
    known = RecordedResults([own], own.device, "0.1.0")
    foreign = RecordedResults([own.model_copy(update={"origin": "x"})], own.device, "0.1.0")
    assert known._recorded
    assert not foreign._recorded
