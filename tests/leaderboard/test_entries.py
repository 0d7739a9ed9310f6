"""Entries beside the records: always those of the records, whatever happened to them."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest
from support.by_hand import execute
from support.samples import failed, result, unranked

from harness.records.result import Result, Verdict
from leaderboard import rows
from leaderboard.entry import entry
from leaderboard.ranking import ENTRY_TYPES, entries_frame
from leaderboard.schema import ENTRIES
from leaderboard.store import Store


def _frame(results: Iterable[Result]) -> pd.DataFrame:
    return entries_frame(tuple(entry(each).values()) for each in results)


def test_entries_are_those_of_the_records(opened: Store) -> None:
    added = [result(id="one"), failed(id="two"), result(id="nul\0", author="nul\0", problem="p2")]
    for each in added:
        opened.add(each)
    pd.testing.assert_frame_equal(opened.entries(), _frame(added))
    assert opened.entries("p2")["result"].tolist() == ["nul\0"]


def test_the_columns_are_named_and_typed_once() -> None:
    assert [column.name for column in ENTRIES.columns] == ["seq", *ENTRY_TYPES]
    assert list(entry(result())) == list(ENTRY_TYPES)
    assert _frame([]).dtypes.tolist() == _frame([result()]).dtypes.tolist()


def test_flags_are_those_of_the_record() -> None:
    some = [
        result(author="a", speedup=1 / 3),
        failed(author="b"),
        unranked("noisy", author="c"),
        result(author="d", measurements=(), score=None),
        failed(Verdict.INTERNAL_ERROR),
    ]
    frame = _frame(some)
    assert frame["accepted"].tolist() == [True, False, True, True, False]
    assert frame["conclusive"].tolist() == [True, True, True, True, False]
    assert (frame["unranked_reason"] != "").tolist() == [False, True, True, True, True]
    assert frame["speedup"].isna().tolist() == [False, True, False, True, True]


def test_entries_that_are_not_there_are_made(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PAGE", 3)
    added = [result(id=f"r{number}") for number in range(rows.PAGE + 2)]
    with Store.open(str(file)) as opened:
        for each in added:
            opened.add(each)
    execute(file, "DELETE FROM entries WHERE seq <> 2")
    for _ in range(2):
        with Store.open(str(file)) as opened:
            pd.testing.assert_frame_equal(opened.entries(), _frame(added))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET speedup = 'fast' WHERE seq = 2",
        "UPDATE entries SET date = 'yesterday' WHERE seq = 2",
        "UPDATE entries SET accepted = 'perhaps' WHERE seq = 2",
        "DELETE FROM entries WHERE seq = 2",
        "DELETE FROM entries",
    ],
)
def test_damaged_entries_are_made_again(opened: Store, file: Path, damage: str) -> None:
    added = [result(id=name) for name in ("one", "two", "three")]
    for each in added:
        opened.add(each)
    execute(file, damage)
    pd.testing.assert_frame_equal(opened.entries(), _frame(added))


def test_a_record_that_cannot_be_read_has_no_entry(
    opened: Store, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("one", "two"):
        opened.add(result(id=name))
    execute(file, "UPDATE results SET record = '{' WHERE id = 'two'")
    execute(file, "DELETE FROM entries")
    assert opened.entries()["result"].tolist() == ["one"]
    assert "result 'two' (row 2) left out" in caplog.text
