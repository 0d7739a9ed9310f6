"""The commands over the store: list, show, delete, invalidate; and that all readers obey."""

import csv
import json
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from support.samples import failed, result
from support.site_samples import SASS

from harness import cli, starter
from harness.languages.build import machine_code
from harness.records.refs import DeviceRef, SolutionRef
from harness.records.result import Result
from harness.records.ruling import Action, Ruling
from leaderboard.store import Store


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(starter, "author_name", lambda: "alice")
    (tmp_path / "problems").mkdir()

    def run(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["harness", *words])
        capfd.readouterr()
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        return Done(status, *capfd.readouterr())

    return run


Add = Callable[..., None]


@pytest.fixture
def add(run: Run) -> Add:
    def add(*results: Result) -> None:
        with Store.open() as store:
            for each in results:
                store.add(each)

    return add


def _recorded() -> list[str]:
    with Store.open() as store:
        return [each.id for each in store.recorded()]


class TestList:
    def test_results_are_listed_newest_first_at_80_columns(self, run: Run, add: Add) -> None:
        long = "gemm-multiply-leakyrelu"
        add(
            result(id="a" * 32, problem=long),
            failed(id="b" * 32, minutes=1, author="bob", dtype="bfloat16"),
        )
        done = run("submissions", "list")
        assert done.status == 0, done
        lines = done.out.splitlines()
        assert max(map(len, lines)) <= 80
        assert [line.split()[0] for line in lines[:3]] == ["id", "bbbbbbbb", "aaaaaaaa"]
        assert "WRONG_ANSWER" in lines[1]
        assert "alice/tiled.cu" in lines[2]

    def test_filters_select_results(self, run: Run, add: Add) -> None:
        add(
            result(id="one"),
            failed(id="two", author="bob"),
            result(id="three", problem="relu", dtype="float16", minutes=1),
        )

        def ids(*options: str) -> list[str]:
            done = run("submissions", "list", "--json", *options)
            assert done.status == 0, done
            return [each["id"] for each in json.loads(done.out)]

        assert ids() == ["three", "two", "one"]
        assert ids("--limit", "1") == ["three"]
        assert ids("--problem", "gemm") == ["two", "one"]
        assert ids("--author", "bob") == ["two"]
        assert ids("--verdict", "accepted") == ["three", "one"]
        assert ids("--dtype", "float16") == ["three"]
        assert ids("--author", "nobody") == []
        assert run("submissions", "list", "--author", "nobody").out == "nothing recorded\n"
        wrong = run("submissions", "list", "--verdict", "ACEPTED")
        assert (wrong.status, "did you mean ACCEPTED?" in wrong.err) == (2, True)

    def test_ids_that_begin_alike_are_shown_long_enough_to_differ(self, run: Run, add: Add) -> None:
        add(result(id="0123456789abcd"), result(id="0123456789abXX"), result(id="0"))
        shown = {line.split()[0] for line in run("submissions", "list").out.splitlines()[1:]}
        assert shown == {"0123456789abc", "0123456789abX", "0"}


class TestShow:
    def test_show_prints_the_report_and_the_record(self, run: Run, add: Add) -> None:
        add(result(id="abcdef", author="bob"), failed(id="abxyz"))
        done = run("submissions", "show", "abc")
        assert done.status == 0, done
        assert done.out.startswith("ACCEPTED  gemm · bob/tiled.cu · cuda · float32")
        assert "result  abcdef" in done.out
        assert "graded  2026-03-01 12:00:00 UTC by harness 0.1.0" in done.out
        failed_one = run("submissions", "show", "abxyz")
        assert (failed_one.status, failed_one.out.split()[0]) == (0, "WRONG_ANSWER")
        data = json.loads(run("submissions", "show", "abx", "--json").out)
        assert Result.from_json(json.dumps(data["result"])).id == "abxyz"
        assert (data["counts"], data["rulings"]) == (True, [])

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["ab"], "which of abcdef, abxyz?"),
            (["zz"], "no result's id begins with 'zz'"),
            ([""], "no result's id begins with ''"),
            (["\x1b[2J"], "no result's id begins with"),
            ([], "Missing argument"),
        ],
    )
    def test_usage(self, run: Run, add: Add, words: list[str], told: str) -> None:
        add(result(id="abcdef"), failed(id="abxyz"))
        done = run("submissions", "show", *words)
        assert (done.status, done.out, told in done.err) == (2, "", True), done
        assert "\x1b" not in done.err


class TestSource:
    FILE = b"// caf\xc3\xa9\r\n\tint x; // [red]\x1b[31m \xe2\x80\xae ::error::\n"

    @pytest.fixture
    def recorded(self, run: Run, add: Add) -> None:
        digest = sha256(self.FILE).hexdigest()
        with Store.open() as store:
            store.add(result(id="kept", solution_hash=digest), self.FILE)
        add(result(id="imported"))

    def test_the_source_is_shown_with_escapes(self, run: Run, recorded: None) -> None:
        done = run("submissions", "show", "kept", "--source")
        shown = "// café\n        int x; // [red] \\u202e \\x3a:error::\n"
        assert (done.status, done.out, done.err) == (0, shown, "")

    def test_out_writes_the_source_byte_for_byte(
        self, run: Run, recorded: None, tmp_path: Path
    ) -> None:
        words = ("submissions", "show", "kept", "--source", "--out", "copy.cu")
        done = run(*words)
        assert (done.status, done.out, done.err) == (0, "", "")
        assert (tmp_path / "copy.cu").read_bytes() == self.FILE
        (tmp_path / "copy.cu").write_text("mine")
        again = run(*words)
        assert (again.status, "cannot write copy.cu: File exists" in again.err) == (2, True)
        assert (tmp_path / "copy.cu").read_text() == "mine"

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["imported", "--source"], "imported: the store does not have its file"),
            (["imported", "--source", "--out", "x"], "imported: the store does not have its file"),
            (["kept", "--source", "--json"], "--source: shows the file and not its record"),
            (["kept", "--sass", "--json"], "--sass: shows the machine code alone"),
            (["kept", "--sass"], "kept: no machine code of it here: it is no CUDA C++ or PTX, was"),
            (["kept", "--out", "x"], "--out: only with --source"),
            (["kept", "--source", "--out", "no/x"], "cannot write no/x: No such file"),
            (["none", "--source"], "no result's id begins with 'none'"),
        ],
    )
    def test_usage(
        self, run: Run, recorded: None, tmp_path: Path, words: list[str], told: str
    ) -> None:
        done = run("submissions", "show", *words)
        assert (done.status, done.out, told in done.err) == (2, "", True), done
        assert not (tmp_path / "x").exists()

    def test_machine_code_is_shown_with_the_lines_of_the_file(
        self, run: Run, recorded: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(machine_code, "machine_code", lambda *_: SASS)
        done = run("submissions", "show", "kept", "--sass")
        assert (done.status, done.err) == (0, "")
        assert "add\n    3  0000  LDC R1, c[0x0][0x28]\n.L_x_0:\n" in done.out

    def test_the_source_of_a_deleted_result_is_deleted(self, run: Run, recorded: None) -> None:
        assert run("submissions", "delete", "kept", "--yes").status == 0
        with Store.open() as store:
            assert store.source(sha256(self.FILE).hexdigest()) is None


class TestDelete:
    def test_own_results_are_deleted(self, run: Run, add: Add) -> None:
        add(result(id="mine"), result(id="kept"), result(id="bobs", author="bob"))
        refused = run("submissions", "delete", "bobs", "--yes")
        assert refused.status == 2
        assert "bobs is by bob, and you are alice" in refused.err
        done = run("submissions", "delete", "mi", "--yes")
        assert (done.status, done.out) == (0, "1 result deleted\n")
        assert run("submissions", "delete", "bobs", "--author", "bob", "--yes").status == 0
        assert _recorded() == ["kept"]

    def test_one_foreign_id_stops_the_whole_deletion(self, run: Run, add: Add) -> None:
        add(result(id="mine"), result(id="bobs", author="bob"))
        assert run("submissions", "delete", "mine", "bobs", "--yes").status == 2
        assert run("submissions", "delete", "mine", "none", "--yes").status == 2
        assert _recorded() == ["mine", "bobs"]

    @pytest.mark.parametrize(("answer", "left"), [("y\n", []), ("n\n", ["mine"]), ("", ["mine"])])
    def test_delete_asks_for_confirmation(
        self,
        run: Run,
        add: Add,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        answer: str,
        left: list[str],
    ) -> None:
        add(result(id="mine"))
        (tmp_path / "answer").write_text(answer)
        with open(tmp_path / "answer") as typed:
            monkeypatch.setattr(sys, "stdin", typed)
            done = run("submissions", "delete", "mine")
        assert "mine" in done.err
        assert "Delete 1 result for good?" in done.err
        assert (done.status, _recorded()) == (130 if left else 0, left)

    def test_older_results_of_the_file_are_deleted_too(self, run: Run, add: Add) -> None:
        """A newer result replaces the older of the same file: so they go together."""
        same = {"solution_hash": "same"}
        add(
            result(id="lucky", speedup=2.0, **same),
            result(id="usual", speedup=1.0, minutes=1, **same),
            result(id="half", dtype="float16", **same),
            result(id="elsewhere", device=DeviceRef(kind="cpu", name="x"), **same),
            result(id="other"),
        )
        assert run("submissions", "delete", "usual", "--yes").out == "2 results deleted\n"
        assert _recorded() == ["half", "elsewhere", "other"]

    def test_deleting_an_older_result_leaves_the_newer_one(self, run: Run, add: Add) -> None:
        add(result(id="old", solution_hash="s"), result(id="new", minutes=1, solution_hash="s"))
        assert run("submissions", "delete", "old", "--yes").out == "1 result deleted\n"
        assert _recorded() == ["new"]

    def test_results_of_unreadable_files_are_deleted_one_by_one(self, run: Run, add: Add) -> None:
        nothing = SolutionRef(author="alice", name="", language="cuda", hash="", path="x.cu")
        add(result(id="one", solution=nothing), result(id="two", minutes=1, solution=nothing))
        assert run("submissions", "delete", "two", "--yes").out == "1 result deleted\n"

    def test_results_with_rulings_cannot_be_deleted(self, run: Run, add: Add) -> None:
        add(result(id="old", solution_hash="s"), result(id="new", minutes=1, solution_hash="s"))
        assert run("submissions", "invalidate", "old", "--reason", "no").status == 0
        done = run("submissions", "delete", "new", "--yes")
        assert (done.status, "old stays: there is a ruling about it" in done.err) == (2, True)
        assert _recorded() == ["old", "new"]


class TestInvalidate:
    def test_an_invalidated_result_is_on_no_board_and_shows_its_reason(
        self, run: Run, add: Add, tmp_path: Path
    ) -> None:
        add(
            result(id="cheat", speedup=9.0, author="eve"),
            result(id="honest", speedup=1.2, author="bob"),
        )

        def boards() -> list[list[str]]:
            """Authors in each of the ways out."""
            assert run("leaderboard", "--csv", "board.csv", "--json", "board.json").status == 0
            with open("board.csv", newline="") as file:
                as_csv = [row["author"] for row in csv.DictReader(file)]
            as_json = [row["author"] for row in json.loads(Path("board.json").read_text())]
            assert run("site", "--out", "site").status == 0
            texts = " ".join(p.read_text() for p in Path("site").rglob("*.html"))
            site = [author for author in ("eve", "bob") if f">{author}<" in texts]
            shown = run("leaderboard").out
            return [as_csv, as_json, site, [each for each in ("eve", "bob") if each in shown]]

        assert boards() == [["eve", "bob"]] * 4
        done = run("submissions", "invalidate", "che", "--reason", "remembers \x1b[2J inputs")
        assert (done.status, done.out) == (0, "cheat does not count any more\n")
        assert boards() == [["bob"]] * 4
        listed = run("submissions", "list").out
        assert "does not" in listed
        assert "– cheat: INVALIDATED" in listed
        assert "by alice: remembers  inputs" in listed.replace("\n", " ")
        shown = run("submissions", "show", "cheat").out
        assert "ruling  INVALIDATED" in shown
        data = json.loads(run("submissions", "show", "cheat", "--json").out)
        assert data["counts"] is False
        (ruling,) = data["rulings"]
        assert Ruling.from_json(json.dumps(ruling)).who == "alice"
        assert run("submissions", "invalidate", "cheat", "--undo", "--by", "carol").status == 0
        assert boards() == [["eve", "bob"]] * 4
        data = json.loads(run("submissions", "list", "--json", "--author", "eve").out)
        assert [each["action"] for each in data[0]["rulings"]] == list(Action)
        assert [each["who"] for each in data[0]["rulings"]] == ["alice", "carol"]

    def test_rulings_are_exported_and_imported(self, run: Run, add: Add) -> None:
        add(result(id="cheat"), result(id="relu", problem="relu"))
        for name in ("cheat", "relu"):
            assert run("submissions", "invalidate", name, "--reason", "no").status == 0
        assert run("export", "--out", "all.jsonl").err == "2 results, 2 rulings\n"
        assert run("export", "relu", "--out", "one.jsonl").err == "1 result, 1 ruling\n"
        for _ in range(2):
            done = run("import", "all.jsonl", "one.jsonl", "--trust", "--store", "other.sqlite")
            assert (done.status, done.err) == (0, "3 results, 3 rulings\n")
        with Store.open("other.sqlite") as store:
            assert list(store.results()) == []
            assert len(list(store.recorded())) == 2
            assert len(list(store.rulings())) == 2
        assert run("export", "--out", "again.jsonl", "--store", "other.sqlite").status == 0
        assert Path("again.jsonl").read_bytes() == Path("all.jsonl").read_bytes()
        with open("all.jsonl", "a") as lines:
            lines.write('{"ruling": 2}\n')
        refused = run("import", "all.jsonl", "--store", "third.sqlite")
        assert (refused.status, "all.jsonl:6: no result" in refused.err) == (2, True)
        assert not Path("third.sqlite").exists()

    def test_other_results_of_the_file_are_listed(self, run: Run, add: Add) -> None:
        add(*(result(id=name, solution_hash="s") for name in ("one", "two", "three")))
        done = run("submissions", "invalidate", "one", "--reason", "no")
        assert "2 results of the same file still count: three, two" in done.err
        done = run("submissions", "invalidate", "two", "three", "--reason", "no")
        assert "1 result of the same file still count: three" in done.err

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["one"], "--reason: say why"),
            (["one", "--reason", " "], "--reason: say why"),
            (["one", "--reason", "x", "--by", " "], "--by: a ruling needs the name"),
            (["one", "--undo"], "one counts as it is"),
            (["two", "--reason", "x"], "two does not count already (--undo lets it)"),
            (["one", "two", "--reason", "x"], "two does not count already"),
            (["three", "--reason", "x"], "no result's id begins with 'three'"),
        ],
    )
    def test_usage(self, run: Run, add: Add, words: list[str], told: str) -> None:
        add(result(id="one"), result(id="two"))
        assert run("submissions", "invalidate", "two", "--reason", "no").status == 0
        done = run("submissions", "invalidate", *words)
        assert (done.status, done.out, told in done.err) == (2, "", True), done
        with Store.open() as store:
            assert len(list(store.rulings())) == 1


def test_hostile_words_are_harmless(run: Run, add: Add) -> None:
    evil = "[red]\x1b[31m\u202e::error::=1"
    add(result(id="x" + evil, author=evil, name=evil, problem="gemm", dtype=evil))
    assert run("submissions", "invalidate", "x", "--reason", evil, "--by", evil).status == 0
    for words in (["list"], ["show", "x"], ["list", "--json"], ["show", "x", "--json"]):
        done = run("submissions", *words)
        assert done.status == 0, done
        assert not {"\x1b", "\u202e"} & set(done.out + done.err)
        assert "::error::" not in done.out.replace("\n", "")
    refused = run("submissions", "delete", "x", "--author", "bob")
    assert refused.status == 2
    assert not {"\x1b", "\u202e"} & set(refused.err)
