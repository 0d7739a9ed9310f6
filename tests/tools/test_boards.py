"""The committed boards are what their records say; of several cards and versions as well."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from support.samples import result, unranked

from harness.commands.exchange import read_lines, write_lines
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.refs import DeviceRef
from harness.records.result import Result, Verdict
from leaderboard.board import BoardRow, rows
from leaderboard.ranking import read_csv
from tools.boards import (
    CSV,
    FOLDER,
    README,
    TOP_README,
    boards_of,
    devices,
    firsts,
    made,
    tables,
    with_table,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def files() -> dict[Path, str]:
    return made()


def test_what_is_committed_is_what_the_records_make(files: dict[Path, str]) -> None:
    assert set(files) == {CSV, README, TOP_README}
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, "run python -m tools.boards"


def test_the_last_word_on_each_file_is_on_a_board() -> None:
    entries = [entry for file in FOLDER.glob("*.jsonl") for entry in read_lines(file)]
    results = [entry for entry in entries if isinstance(entry, Result)]
    ruled = {entry.result for entry in entries if not isinstance(entry, Result)}
    counting = [each for each in results if each.id not in ruled]
    last = {_file(each): each for each in sorted(counting, key=lambda each: each.created)}
    accepted = {r.id for r in last.values() if r.verdict is Verdict.ACCEPTED}
    board = read_csv(CSV)
    assert len(accepted) > 50
    assert set(board["result"]) == accepted
    assert set(board["device_kind"]) == {"cuda"}
    assert {"cuda", "triton", "pytorch", "ptx", "tilelang", "cute", "cutile"} <= set(
        board["language"]
    )


def _file(each: Result) -> tuple[str, ...]:
    """What a newer result replaces an older one by."""
    problem, solution = each.problem, each.solution
    where = each.device.name, each.environment.harness_major
    return problem.slug, problem.hash, each.dtype, *where, solution.author, solution.hash


def test_the_demo_imports_all_records() -> None:
    command = ["make", "--dry-run", "--always-make", "demo"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (imported,) = re.findall(r"harness import (.*?) --store", said)
    assert imported.split() == [str(p.relative_to(ROOT)) for p in sorted(FOLDER.glob("*.jsonl"))]


def test_readme_shows_the_first_of_each(files: dict[Path, str]) -> None:
    tables = re.split("^## ", files[README], flags=re.MULTILINE)[1:]
    by_device = {text.splitlines()[0]: text for text in tables}
    board = read_csv(CSV)
    assert set(by_device) == set(board["device"])
    for row in board.drop_duplicates(["problem", "dtype", "device"]).itertuples():
        (line,) = (
            line
            for line in by_device[row.device].splitlines()
            if line.startswith(f"| {row.problem} | {row.dtype} | ")
        )
        assert f"[{row.solution}](../../solutions/{row.problem}/{row.author})" in line
        assert not pd.isna(row.speedup)


def test_the_top_readme_has_a_row_for_each_problem(files: dict[Path, str]) -> None:
    shown = re.findall(r"^\| ([\w-]+) \| (\w+) \| \[", files[TOP_README], re.MULTILINE)
    assert len(shown) == len(dict(shown)) > 0
    for slug, dtype in shown:
        assert dtype in load_problem(ROOT / "problems" / slug).dtypes


OLD, NEW = (DeviceRef(kind="cuda", name=f"NVIDIA {name}") for name in ("Old", "New"))


class TestSeveralCards:
    """Records that are made up, of two problems that are there."""

    @pytest.fixture
    def problems(self) -> list[Problem]:
        return [load_problem(ROOT / "problems" / slug) for slug in ("softmax", "fft-filter")]

    @pytest.fixture
    def entries(self, problems: list[Problem], tmp_path: Path) -> list[BoardRow]:
        softmax, fft = ({"problem": p.slug, "problem_hash": p.hash} for p in problems)
        half = softmax | {"dtype": "float16"}
        cplx = fft | {"dtype": "complex64"}
        old = [
            result(**half, name="a", speedup=3.0, device=OLD),
            result(**softmax, name="a", speedup=2.0, device=OLD),
            result(**cplx, name="b", speedup=1.5, device=OLD),
        ]
        new = [
            result(**half, name="a", speedup=1.2, device=NEW, minutes=60),
            result(**half, name="c", speedup=1.8, device=NEW, minutes=50),
            result(**softmax, name="a", speedup=2.5, device=NEW, minutes=61),
            # Faster, but of another version: behind the others.
            result(**(half | {"problem_hash": "p0"}), name="d", speedup=9.0, device=NEW),
            # Of another version alone.
            result(**(cplx | {"problem_hash": "p0"}), name="b", speedup=4.0, device=NEW),
        ]
        files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
        for file, results in zip(files, (old, new), strict=True):
            with file.open("w", encoding="utf-8") as lines:
                write_lines(results, lines)
        return rows(boards_of(files, problems))

    def test_the_card_with_most_entries_comes_first(self, entries: list[BoardRow]) -> None:
        """The new one has five, of which two are of another version."""
        fewer = [entry for entry in entries if (entry.device, entry.solution) != (NEW.name, "c")]
        assert len(entries) - len(fewer) == 1
        assert devices(fewer) == [OLD.name, NEW.name]
        assert devices([]) == []

    def test_of_as_many_that_of_the_newest(self, entries: list[BoardRow]) -> None:
        assert devices(entries) == [NEW.name, OLD.name]
        headings = [line for line in tables(entries) if line.startswith("#")]
        assert headings == [f"## {NEW.name}", f"## {OLD.name}"]

    @staticmethod
    def _shown(lines: Iterator[str]) -> list[tuple[str, ...]]:
        """The first cells of each row but those of headings, and how fast it is."""
        rows = [line[1:-1].split("|") for line in lines if line.startswith("| ")]
        cells = [[cell.strip() for cell in row] for row in rows[1:]]
        return [(*row[:-4], row[-2].split("×")[0]) for row in cells if row[0] != "problem"]

    def test_a_table_has_the_first_of_each_board_of_its_card(self, entries: list[BoardRow]) -> None:
        fft = "../../solutions/fft-filter/alice"
        old = f"[b]({fft}) (of an earlier version of the problem)"
        shown = self._shown(tables(entries))
        assert shown == [
            ("fft-filter", "complex64", "1", old, "4.000"),
            ("softmax", "float16", "2", "[c](../../solutions/softmax/alice)", "1.800"),
            ("softmax", "float32", "1", "[a](../../solutions/softmax/alice)", "2.500"),
            ("fft-filter", "complex64", "1", f"[b]({fft})", "1.500"),
            ("softmax", "float16", "1", "[a](../../solutions/softmax/alice)", "3.000"),
            ("softmax", "float32", "1", "[a](../../solutions/softmax/alice)", "2.000"),
        ]  # fmt: skip

    def test_the_short_table_prefers_half_precision_and_leaves_old_versions_out(
        self, entries: list[BoardRow], problems: list[Problem]
    ) -> None:
        lines = list(firsts(entries, problems))
        assert lines[0] == f"On an {NEW.name}:"
        assert self._shown(iter(lines)) == [
            ("softmax", "float16", "[c](solutions/softmax/alice)", "1.800")
        ]

    def test_without_half_precision_the_first_type_with_a_board(
        self, entries: list[BoardRow], problems: list[Problem]
    ) -> None:
        old = [entry for entry in entries if entry.device == OLD.name]
        assert [row[:2] for row in self._shown(firsts(old, problems))] == [
            ("fft-filter", "complex64"),
            ("softmax", "float16"),
        ]
        singles = [entry for entry in old if entry.dtype != "float16"]
        assert [row[:2] for row in self._shown(firsts(singles, problems))] == [
            ("fft-filter", "complex64"),
            ("softmax", "float32"),
        ]

    def test_a_board_without_ranks_shows_its_fastest(
        self, problems: list[Problem], tmp_path: Path
    ) -> None:
        file = tmp_path / "noisy.jsonl"
        softmax = {"problem": "softmax", "problem_hash": problems[0].hash, "device": NEW}
        noisy = [unranked(**softmax, name=name, speedup=x) for name, x in (("a", 1.0), ("b", 2.0))]
        with file.open("w", encoding="utf-8") as lines:
            write_lines(noisy, lines)
        entries = rows(boards_of([file], problems))
        text = "\n".join(tables(entries))
        assert "| softmax | float32 | 2 | [b](../../solutions/softmax/alice) (not ranked) |" in text

    def test_without_records_nothing_is_shown(self, problems: list[Problem]) -> None:
        assert list(tables([])) == list(firsts([], problems)) == []


def test_a_page_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no one place"):
        with_table("nothing", [])
    assert with_table("<!-- boards -->\nx\n<!-- end of boards -->", ["a", ""]) == (
        "<!-- boards -->\na\n<!-- end of boards -->"
    )
