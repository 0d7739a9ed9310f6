"""Results leave a store as lines, and come back as they were."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import in_shell, words
from support.samples import failed, result

from harness import cli
from harness.commands.exchange import LINE_BYTES, read_lines, write_lines
from harness.errors import MachineError, UsageError
from harness.records.result import Result
from harness.records.ruling import Action, rule
from leaderboard.store import Store

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command: its exit code, and what it printed."""

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *words])
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        return status, "".join(capfd.readouterr())

    return run


def test_export_and_import_move_results_unchanged(tmp_path: Path, run: Run) -> None:
    first, second = (str(tmp_path / name) for name in ("a.sqlite", "b.sqlite"))
    results = [result(), failed()]
    with Store.open(first) as store:
        for each in results:
            store.add(each)
    lines = str(tmp_path / "board.jsonl")
    assert run("export", "--out", lines, "--store", first)[0] == 0
    for _ in range(2):  # again changes nothing
        assert run("import", "--trust", lines, "--store", second)[0] == 0
    with Store.open(second) as store:
        assert [r.to_json() for r in store.results()] == [r.to_json() for r in results]
    again = str(tmp_path / "again.jsonl")
    assert run("export", "--out", again, "--store", second)[0] == 0
    assert Path(again).read_bytes() == Path(lines).read_bytes()
    only = run("export", results[0].problem.slug, "--store", second)[1].splitlines()
    assert Result.from_json(only[1]) == results[0]


def _export(tmp_path: Path, run: Run, results: int = 3) -> Path:
    """An export of some results, one of them ruled about."""
    store, lines = str(tmp_path / "whole.sqlite"), tmp_path / "whole.jsonl"
    with Store.open(store) as opened:
        for number in range(results):
            opened.add(result(id=f"r{number}"))
        opened.add_ruling(rule("r0", Action.INVALIDATED, who="me", reason="copied"))
    assert run("export", "--out", str(lines), "--store", store) == (0, "3 results, 1 ruling\n")
    return lines


def test_an_export_announces_its_lines(tmp_path: Path, run: Run) -> None:
    text = _export(tmp_path, run).read_text()
    assert text.startswith('{"export": {"results": 3, "rulings": 1}}\n')
    assert text.count("\n") == 5
    assert run("export", "--store", str(tmp_path / "whole.sqlite"))[1] == text + (
        "3 results, 1 ruling\n"
    )
    empty = run("export", "--store", str(tmp_path / "none.sqlite"))[1]
    assert '{"export": {"results": 0, "rulings": 0}}\n' in empty


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (slice(0, 1), "there are 0 and 0: it was cut short"),
        (slice(0, 2), "there are 1 and 0: it was cut short"),
        (slice(0, 4), "there are 3 and 0: it was cut short"),
        (slice(0, 6), "there are 4 and 1: it was changed"),
    ],
)
def test_missing_lines_are_missed(tmp_path: Path, run: Run, lines: slice, told: str) -> None:
    file, store = _export(tmp_path, run), tmp_path / "s.sqlite"
    whole = file.read_text().splitlines(keepends=True)
    whole.insert(1, result(id="another").to_json() + "\n")
    if lines.stop < len(whole):
        del whole[1]
    file.write_text("".join(whole[lines]))
    code, printed = run("import", str(file), "--store", str(store))
    assert code == UsageError.exit_code
    assert f"{file}: its first line announces 3 results and 1 ruling, {told}; nothing" in printed
    assert "Export again; to take what there is, leave its first line away" in printed
    assert not store.exists()


@pytest.mark.parametrize("bytes_", [1, 2, 100])
def test_a_part_of_a_line_is_missed(tmp_path: Path, run: Run, bytes_: int) -> None:
    file, store = _export(tmp_path, run), tmp_path / "s.sqlite"
    file.write_bytes(file.read_bytes()[:-bytes_])
    code, printed = run("import", str(file), "--store", str(store))
    assert code == UsageError.exit_code
    assert "there are 3 and 0 and a part of one: it was cut short" in printed
    assert not store.exists()


def test_exports_one_behind_the_other_are_one_file(tmp_path: Path, run: Run) -> None:
    file, store = _export(tmp_path, run), tmp_path / "s.sqlite"
    whole = file.read_text()
    lines = result(id="bare").to_json() + "\n"
    file.write_text(lines + whole + whole)
    told = run("import", "--trust", str(file), "--store", str(store))
    assert told == (0, "7 results, 2 rulings\n")
    with Store.open(str(store)) as opened:
        assert len(list(opened.recorded())) == 4
    file.write_text(lines + whole + whole[:-10])
    code, printed = run("import", "--trust", str(file), "--store", str(store))
    assert (code, f"{file}: its line 7 announces" in printed) == (2, True)
    file.write_text(lines + whole.splitlines(keepends=True)[0] + whole)
    code, printed = run("import", "--trust", str(file), "--store", str(store))
    assert (code, f"{file}: its line 2 announces" in printed) == (2, True)


def test_lines_without_a_header_are_taken_as_they_are(tmp_path: Path, run: Run) -> None:
    file, store = _export(tmp_path, run), tmp_path / "s.sqlite"
    older = file.read_text().split("\n", 1)[1]
    file.write_text(older.rstrip("\n"))
    assert run("import", "--trust", str(file), "--store", str(store)) == (
        0,
        "3 results, 1 ruling\n",
    )


@pytest.mark.parametrize(
    "header",
    ['{"export": {"results": -1, "rulings": 0}}', '{"export": {"results": true, "rulings": 0}}',
     '{"export": {"results": 1}}', '{"export": []}', '{"export": {"results": 1, "rulings": 0}'],
)  # fmt: skip
def test_a_header_that_is_none_is_refused(tmp_path: Path, run: Run, header: str) -> None:
    file, store = tmp_path / "x.jsonl", tmp_path / "s.sqlite"
    file.write_text(f"{header}\n{result().to_json()}\n")
    code, printed = run("import", str(file), "--store", str(store))
    assert (code, "x.jsonl:1: no result" in printed) == (2, True)
    assert not store.exists()


def test_a_full_disk_leaves_the_last_backup(tmp_path: Path, run: Run) -> None:
    backup = _export(tmp_path, run).read_bytes()
    script = (
        "mkdir d; mount -t tmpfs -o size=64k none d; cp whole.jsonl d\n"
        f"head -c 40000 /dev/zero > d/fill; {words('export', '--out', 'd/whole.jsonl')}\n"
        "echo $?; cmp d/whole.jsonl whole.jsonl && ls -A d"
    )
    store = str(tmp_path / "whole.sqlite")
    with Store.open(store) as opened:
        for number in range(40):
            opened.add(result(id=f"more{number}"))
    done = in_shell(script, tmp_path, mounts=True, variables={"HARNESS_STORE": store})
    assert "error: cannot write d/whole.jsonl: no space left on its disk; the old" in done.stderr
    assert done.stdout.split() == ["3", "fill", "whole.jsonl"]
    assert (tmp_path / "whole.jsonl").read_bytes() == backup


@pytest.mark.parametrize(
    "bad",
    [b"{}", b"[1]", b"\xff", b"no", b"[" * 100_000, b'{"schema": 1}', b"x" * (LINE_BYTES + 5)],
)
def test_a_line_that_is_no_result_stops_the_import_before_it_begins(
    tmp_path: Path, run: Run, bad: bytes
) -> None:
    file, store = tmp_path / "board.jsonl", str(tmp_path / "s.sqlite")
    with file.open("w", encoding="utf-8") as lines:
        assert write_lines([result()], lines) == 1
    with file.open("ab") as lines:
        lines.write(bad + b"\n")
    code, told = run("import", str(file), "--store", store)
    assert code == UsageError.exit_code
    assert "board.jsonl:2: " in told
    assert not Path(store).exists()


def test_all_files_are_imported_or_none(tmp_path: Path, run: Run) -> None:
    store = str(tmp_path / "s.sqlite")
    there = result(id="there")
    with Store.open(store) as opened:
        opened.add(there)
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    for file, entries in ((good, [result(), failed()]), (bad, [result(), result(id="there")])):
        with file.open("w", encoding="utf-8") as lines:
            write_lines(entries, lines)
    code, told = run("import", str(good), str(bad), "--store", store)
    assert code == MachineError.exit_code
    assert "a different result with id 'there' is already there" in told
    assert "nothing was added" in told
    with Store.open(store) as opened:
        assert list(opened.recorded()) == [there]
    assert run("import", str(good), str(good), "--store", store)[0] == 0
    with Store.open(store) as opened:
        assert len(list(opened.recorded())) == 3


def test_without_room_for_a_copy_the_remedy_is_named(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "board.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        write_lines([result()], lines)

    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("leaderboard.bulk.tempfile.TemporaryFile", full)
    code, told = run("import", str(file), "--store", str(tmp_path / "s.sqlite"))
    assert code == MachineError.exit_code
    assert "no space left on its disk" in told
    assert not (tmp_path / "s.sqlite").exists()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*No such file"):
        list(read_lines(tmp_path / "none"))


def test_a_pipe_is_refused(tmp_path: Path, run: Run) -> None:
    # Its lines would be gone once they had been checked.
    read, write = os.pipe()
    with os.fdopen(write, "w", encoding="utf-8") as lines:
        assert write_lines([result()], lines) == 1
    code, told = run("import", f"/dev/fd/{read}", "--store", str(tmp_path / "s.sqlite"))
    os.close(read)
    assert code == UsageError.exit_code
    assert "can be read only once" in told
    assert not (tmp_path / "s.sqlite").exists()
