"""``harness site`` from the command line."""

import csv
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.samples import result
from support.site_samples import PROBLEM, Page

from harness.cli import cli
from harness.errors import UsageError
from leaderboard.store import Store


def test_it_writes_the_boards_of_a_store(tmp_path: Path) -> None:
    store = str(tmp_path / "store.sqlite")
    with Store.open(store) as opened:
        for number in range(3):
            name = f"k{number}"
            opened.add(result(problem=PROBLEM.slug, problem_hash=PROBLEM.hash, name=name))
    out = tmp_path / "site"
    words = ["site", "--out", str(out), "--store", store]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert "1 board, 1 entry" in done.output
    done = CliRunner().invoke(cli, [*words, "--all"], catch_exceptions=False)
    assert "1 board, 3 entries" in done.output
    (board,) = out.glob("boards/*.html")
    assert all(f"k{number}" in Page(board).text for number in range(3))
    with open(out / "boards.csv", encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 4


def test_code_from_the_store_is_shown(tmp_path: Path) -> None:
    store, out = str(tmp_path / "store.sqlite"), tmp_path / "site"
    code = b"__global__ void of_old() {}\n"
    with Store.open(store) as opened:
        digest = sha256(code).hexdigest()
        opened.add(result(problem=PROBLEM.slug, solution_hash=digest), code)
    words = ["site", "--out", str(out), "--store", store]
    for more, shown in (([], True), (["--no-code"], False)):
        CliRunner().invoke(cli, [*words, *more], catch_exceptions=False)
        (entry,) = out.glob("entries/*.html")
        assert ("void of_old()" in Page(entry).text) == shown


def test_it_does_not_write_over_something_else(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    store = str(tmp_path / "store" / "s.sqlite")
    with pytest.raises(UsageError, match="name an empty or a new folder"):
        CliRunner().invoke(
            cli, ["site", "--out", str(tmp_path), "--store", store], catch_exceptions=False
        )
    assert (tmp_path / "mine.txt").exists()
