"""Standings beside the records: always those of the records, whatever happened to them."""

from pathlib import Path

import pytest
from support.by_hand import execute
from support.samples import failed, result

from leaderboard import queries
from leaderboard.standing import standing
from leaderboard.store import Store


def test_standings_are_those_of_the_records(opened: Store) -> None:
    added = [result(id="one"), failed(id="two"), result(id="nul\0", author="nul\0", problem="p2")]
    for each in added:
        opened.add(each)
    assert repr(list(opened.standings())) == repr([standing(each) for each in added])
    assert [each.result for each in opened.standings("p2")] == ["nul\0"]


def test_standings_of_an_older_store_are_made(file: Path) -> None:
    added = [result(id=f"r{number}") for number in range(queries.PAGE + 3)]
    with Store.open(str(file)) as opened:
        for each in added:
            opened.add(each)
    execute(file, "DROP TABLE standings")
    for _ in range(2):
        with Store.open(str(file)) as opened:
            assert repr(list(opened.standings())) == repr([standing(each) for each in added])


def test_standings_that_were_text_are_made_again(file: Path) -> None:
    added = [result(id="one"), failed(id="two")]
    with Store.open(str(file)) as opened:
        for each in added:
            opened.add(each)
    execute(file, "DROP TABLE standings")
    execute(
        file,
        "CREATE TABLE standings (seq BIGINT NOT NULL PRIMARY KEY, problem TEXT NOT NULL, "
        "form INTEGER NOT NULL, checksum VARCHAR(64) NOT NULL, standing TEXT NOT NULL)",
    )
    execute(file, "INSERT INTO standings VALUES (1, 'gemm', 2, 'x', '[]'), (7, '', 4, '', '')")
    execute(file, "UPDATE meta SET value = '3' WHERE key = 'schema'")
    for _ in range(2):
        with Store.open(str(file)) as opened:
            assert repr(list(opened.standings())) == repr([standing(each) for each in added])


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE standings SET standing = CAST(standing AS TEXT) WHERE seq = 2",
        "UPDATE standings SET checksum = checksum + 1 WHERE seq = 2",
        "UPDATE standings SET standing = '[]' WHERE seq = 2",
        "UPDATE standings SET form = 0 WHERE seq = 2",
        "DELETE FROM standings WHERE seq = 2",
    ],
)
def test_a_damaged_standing_is_made_again(opened: Store, file: Path, damage: str) -> None:
    added = [result(id=name) for name in ("one", "two", "three")]
    for each in added:
        opened.add(each)
    execute(file, damage)
    assert repr(list(opened.standings())) == repr([standing(each) for each in added])


def test_a_record_that_cannot_be_read_has_no_standing(
    opened: Store, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("one", "two"):
        opened.add(result(id=name))
    execute(file, "UPDATE results SET record = '{' WHERE id = 'two'")
    execute(file, "DELETE FROM standings")
    assert [each.result for each in opened.standings()] == ["one"]
    assert "result 'two' (row 2) left out" in caplog.text
