"""Submitted files beside the results that are of them."""

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql
from support.samples import result

from harness.records.result import Result
from leaderboard import sources
from leaderboard.schema import SOURCES
from leaderboard.store import Store

FILE = b"\xef\xbb\xbf// caf\xc3\xa9\r\nint x;"
DIGEST = sha256(FILE).hexdigest()


def _of(content: bytes = FILE, **more: object) -> Result:
    return result(solution_hash=sha256(content).hexdigest(), **more)


def _count(file: Path) -> int:
    connection = sqlite3.connect(file)
    (count,) = connection.execute("SELECT count(*) FROM sources").fetchone()
    connection.close()
    return int(count)


def test_a_source_comes_back_byte_for_byte(file: Path) -> None:
    with Store.open(str(file)) as store:
        store.add(_of(), FILE)
    with Store.open(str(file)) as store:
        assert store.source(DIGEST) == FILE
        assert store.source("") is None
        assert store.source("0" * 64) is None


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=20), max_size=6))
def test_a_source_is_stored_once_until_its_last_result_is_deleted(files: list[bytes]) -> None:
    with Store("sqlite://") as store:
        for number, content in enumerate(files):
            store.add(_of(content, id=f"r{number}"), content)
        for number, content in enumerate(files):
            assert store.source(sha256(content).hexdigest()) == content
            store.delete([f"r{number}"])
            left = content if content in files[number + 1 :] else None
            assert store.source(sha256(content).hexdigest()) == left


def test_the_same_file_takes_no_more_room(opened: Store, file: Path) -> None:
    opened.add(_of(id="one"), FILE)
    opened.add(_of(id="two", author="bob"), FILE)
    opened.add(_of(id="without"))
    assert _count(file) == 1
    opened.delete(["one", "two"])
    assert opened.source(DIGEST) == FILE
    opened.delete(["without"])
    assert _count(file) == 0


def test_a_source_of_another_file_is_refused(opened: Store) -> None:
    with pytest.raises(ValueError, match="their hashes differ"):
        opened.add(_of(), FILE + b" ")
    large = bytes(sources.MAX_BYTES + 1)
    with pytest.raises(ValueError, match="at most 1048576 are kept"):
        opened.add(_of(large), large)
    assert list(opened.recorded()) == []


def test_a_damaged_source_is_none(opened: Store, file: Path) -> None:
    opened.add(_of(), FILE)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE sources SET content = ?", (b"other",))
    connection.close()
    assert opened.source(DIGEST) is None


def test_a_store_from_before_there_were_sources_goes_on(file: Path) -> None:
    stores = Path(__file__).parent / "stores"
    connection = sqlite3.connect(file)
    connection.executescript((stores / "v2.sql").read_text(encoding="utf-8"))
    connection.close()
    with Store.open(str(file)) as second:
        assert [each.id for each in second.results()] == ["one", "three"]
        assert second.source(DIGEST) is None
        second.add(_of(id="new"), FILE)
        assert second.source(DIGEST) == FILE


def test_postgresql_stores_a_source_once() -> None:
    """As two judges may record the same file at once."""
    said: list[str] = []

    class Connection:
        dialect = postgresql.dialect()  # type: ignore[no-untyped-call]

        def execute(self, statement: object) -> None:
            said.append(str(statement.compile(dialect=self.dialect)))  # type: ignore[attr-defined]

    sources.add(Connection(), FILE)  # type: ignore[arg-type]
    assert said[0].startswith(f"INSERT INTO {SOURCES.name} (hash, content) VALUES")
    assert said[0].endswith("ON CONFLICT DO NOTHING")
