"""``harness site`` from the command line."""

import csv
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.by_hand import execute
from support.samples import result
from support.site_samples import PROBLEM, Page

from harness.cli import cli
from harness.errors import UsageError
from harness.site import charts
from leaderboard.store import Store


@pytest.mark.corpus
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


@pytest.mark.corpus
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


@pytest.mark.corpus
def test_a_record_of_an_older_harness_that_nobody_can_draw_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Unchecked, as if bounds were of a later harness.
    place = tmp_path / "store.sqlite"
    about = {"problem": PROBLEM.slug, "problem_hash": PROBLEM.hash}
    with Store.open(str(place)) as opened:
        opened.add(result(id="good", author="ann", **about))
        opened.add(result(id="wild", author="bob", **about))
    record = result(id="wild", author="bob", **about).to_json().replace(f"{2.0 * 4096**3}", "1e308")
    values = record, sha256(record.encode()).hexdigest()
    execute(place, "UPDATE results SET record = ?, checksum = ? WHERE id = 'wild'", *values)
    for words in (["site", "--out", str(tmp_path / "site")], ["leaderboard"]):
        done = CliRunner().invoke(cli, [*words, "--store", str(place)], catch_exceptions=False)
        assert done.exit_code == 0
    assert "'wild' (row 2) left out" in caplog.text
    pages = [
        page.read_text(encoding="utf-8") for page in (tmp_path / "site/entries").glob("*.html")
    ]
    assert len(pages) == 1
    caplog.clear()

    def broken(*_: object) -> None:
        raise OverflowError("cannot convert float infinity to integer")

    monkeypatch.setattr(charts, "roofline_chart", broken)
    again = ["site", "--out", str(tmp_path / "site"), "--store", str(place)]
    assert CliRunner().invoke(cli, again, catch_exceptions=False).exit_code == 0
    assert "result 'good' has no page: cannot convert" in caplog.text
