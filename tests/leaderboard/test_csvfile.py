"""CSV export: nothing lost, nothing that a spreadsheet or a terminal would run."""

import csv
import io
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.samples import START, build_with, failed, result, score, unranked

from leaderboard.board import COLUMNS
from leaderboard.csvfile import neutral, read_csv, to_csv
from leaderboard.ranking import board

HIDDEN = ("Cc", "Cf", "Cn", "Cs", "Zl", "Zp")
BLANK = "\u115f\u1160\u3164\uffa0\u2800\u034f"
DANGEROUS = tuple("=+-@＝＋－＠\t\r\n")


def test_it_round_trips(tmp_path: Path) -> None:
    boards = board(
        [
            result(author="a", speedup=1 / 3),
            result(author="b,\"c\"; 'd'", speedup=2.0),
            result(author="NA", speedup=1e-7),
            result(author="007", speedup=3.0),
            unranked(author="true"),
            failed(),
            result(author="None", measurements=(), score=None),
        ]
    )
    file = tmp_path / "board.csv"
    to_csv(boards, file)
    pd.testing.assert_frame_equal(read_csv(file), boards)
    assert list(pd.read_csv(file).columns) == list(COLUMNS)


def test_boards_without_the_column_of_libraries_are_read(tmp_path: Path) -> None:
    used = result(build=build_with(("cublasLt", "13.0.2"), ("cutlass", "4.2.0")))
    boards = board([result(author="a"), used])
    assert sorted(boards["libraries"]) == ["", "cublasLt, cutlass"]
    file = tmp_path / "board.csv"
    to_csv(boards, file)
    pd.testing.assert_frame_equal(read_csv(file), boards)
    with file.open(newline="") as written:
        older = [row[:-1] for row in csv.reader(written)]
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows(older)
    kind = boards["libraries"].dtype
    expected = boards.assign(libraries="").astype({"libraries": kind})
    pd.testing.assert_frame_equal(read_csv(file), expected)


def test_an_empty_board_round_trips(tmp_path: Path) -> None:
    file = tmp_path / "board.csv"
    to_csv(board([]), file)
    pd.testing.assert_frame_equal(read_csv(file), board([]))


def test_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="not those of a board"):
        read_csv(io.StringIO("a,b\n1,2\n"))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("alice", "alice"),
        ("=HYPERLINK(A1)", "'=HYPERLINK(A1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(1)", "'@SUM(1)"),
        (" =1", "' =1"),
        ("\t=1", "\\t=1"),
        ("\r=1", "\\r=1"),
        ("＝1", "'＝1"),
        ("'=1", "''=1"),
        ("'", "''"),
        ("a=1", "a=1"),
        ("\x1b[31m\u202e\x00", "\\x1b[31m\\u202e\\x00"),
        ("\ud800", "\\ud800"),
        ("", ""),
    ],
)
def test_neutral_cells(text: str, cell: str) -> None:
    assert neutral(text) == cell


@settings(deadline=None, max_examples=12)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=30, unique=True))
@example(["\r", "\x00=", '"=1', "'" * 5, "\u2028@", "a\n=1", ",=", "\u3000-1"])
def test_no_author_can_write_a_formula_and_all_are_read_back(authors: list[str]) -> None:
    boards = board([result(author=author, minutes=n) for n, author in enumerate(authors)])
    file = io.StringIO()
    to_csv(boards, file)
    lines = list(csv.reader(io.StringIO(file.getvalue(), newline="")))
    assert len(lines) == 1 + len(boards)
    for cell in (cell for line in lines[1:] for cell in line):
        assert not cell.lstrip().startswith(DANGEROUS)
        assert not any(unicodedata.category(c) in HIDDEN for c in cell)
    back = read_csv(io.StringIO(file.getvalue()))
    for column in boards.columns.drop("author"):
        pd.testing.assert_series_equal(back[column], boards[column])
    for before, after in zip(boards["author"], back["author"], strict=True):
        if any(unicodedata.category(c) in HIDDEN or c in BLANK for c in before):
            assert after == neutral(before).removeprefix("'")
        else:
            assert after == before


TEXTS = st.text(max_size=12) | st.sampled_from(
    ["=1", " =1", "-", "+1", "@x", "'", "a;=1", "::error ::x", "##[group]", 'say "x"', "\\", "NaN"]
)


@pytest.mark.corpus
@settings(max_examples=60)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_every_cell_is_what_its_value_alone_would_be(names: list[tuple[str, str, str]]) -> None:
    boards = board(
        [
            result(
                author=author, name=name, minutes=n,
                score=score(ranked=not reason, unranked_reason=reason),
            )
            for n, (author, name, reason) in enumerate(names)
        ],
        all_entries=True,
    )  # fmt: skip
    file = io.StringIO()
    to_csv(boards, file)
    lines = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    for column in ("problem", "author", "solution", "unranked_reason", "result", "device"):
        assert [line[column] for line in lines] == [neutral(str(each)) for each in boards[column]]
    for column in ("speedup", "speedup_low", "speedup_high", "time_us"):
        assert [float(line[column]) for line in lines] == boards[column].tolist()
    assert [datetime.fromisoformat(line["date"]) for line in lines] == boards["date"].tolist()
    assert START in boards["date"].tolist()


def test_dates_of_any_year_round_trip() -> None:
    dates = [datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=UTC)]
    boards = board([result(created=date) for date in dates], all_entries=True)
    file = io.StringIO()
    to_csv(boards, file)
    back = read_csv(io.StringIO(file.getvalue()))
    pd.testing.assert_frame_equal(back, boards)
    assert set(back["date"].dt.to_pydatetime()) == set(dates)


def test_half_a_rank_is_no_board() -> None:
    file = io.StringIO()
    to_csv(board([result()]), file)
    lines = file.getvalue().splitlines()
    place = lines[0].split(",").index('"rank"')
    for wrong in ("0.5", "1e30", "x"):
        cells = lines[1].split(",")
        cells[place] = wrong
        with pytest.raises(ValueError, match=r"\S"):
            read_csv(io.StringIO("\n".join([lines[0], ",".join(cells)])))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a;=1+1", "a\\x3b=1+1"),
        ('a; "@x', 'a\\x3b "@x'),
        ("a; b", "a; b"),
        ("x ##[error]y", "x \\x23#[error]y"),
        ("::error::y", "\\x3a:error::y"),
        ("ns::f", "ns::f"),
    ],
)
def test_what_else_is_made_harmless(text: str, cell: str) -> None:
    assert neutral(text) == cell
