"""Results leave a store as lines, and come back as they were."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.samples import failed, result

from harness import cli
from harness.commands.exchange import LINE_BYTES, read_lines, write_lines
from harness.errors import UsageError
from harness.records.result import Result
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
    assert Result.from_json(only[0]) == results[0]


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
