"""Stores of every version so far are opened, with all that is in them.

``stores/vN.sql`` are dumps of stores that the harness of that version made: three results (ann's
and bob's are accepted), from version 2 on a ruling against bob's, from version 3 on ann's file.
"""

import sqlite3
import threading
from hashlib import sha256
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from support.by_hand import execute
from support.samples import result

from harness.records.ruling import Action
from leaderboard.ranking import ranked
from leaderboard.schema import METADATA, VERSION, version_of
from leaderboard.store import Store, StoreError

DUMPS = sorted(Path(__file__).parent.glob("stores/*.sql"))
SOURCE = b"// first\r\nint x;\n"
OLD = pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.stem)


def _made(dump: Path, file: Path) -> int:
    """A store of the version that the dump is of, which is returned."""
    connection = sqlite3.connect(file)
    connection.executescript(dump.read_text(encoding="utf-8"))
    connection.close()
    return int(dump.stem[1])


def test_there_is_a_store_of_every_version() -> None:
    assert {int(dump.stem[1]) for dump in DUMPS} == set(range(1, VERSION))


@OLD
def test_all_that_is_in_an_older_store_is_there(dump: Path, file: Path) -> None:
    version = _made(dump, file)
    ruled = version >= 2
    for _ in range(2):  # migrated, and up to date
        with Store.open(str(file)) as store:
            assert [each.id for each in store.recorded()] == ["one", "two", "three"]
            counting = ["one", "three"] if ruled else ["one", "two", "three"]
            assert [each.id for each in store.results()] == counting
            rulings = [(each.result, each.action) for each in store.rulings()]
            assert rulings == ([("two", Action.INVALIDATED)] if ruled else [])
            source = store.source(sha256(SOURCE).hexdigest())
            assert source == (SOURCE if version >= 3 else None)
            entries = store.entries()
            assert entries["result"].tolist() == counting
            board = ranked(entries)
            authors = [("ann", 2.0)] if ruled else [("bob", 3.0), ("ann", 2.0)]
            assert list(zip(board["author"], board["speedup"], strict=True)) == authors
            assert board["rank"].tolist() == list(range(1, len(authors) + 1))


@OLD
def test_an_older_store_goes_on(dump: Path, file: Path) -> None:
    _made(dump, file)
    with Store.open(str(file)) as store:
        store.add(result(id="new", author="eve", solution_hash=sha256(SOURCE).hexdigest()), SOURCE)
        store.delete(["one"])
        assert [each.id for each in store.recorded()] == ["two", "three", "new"]
        assert store.source(sha256(SOURCE).hexdigest()) == SOURCE
        assert "new" in store.entries()["result"].tolist()


@OLD
def test_a_migrated_store_has_the_tables_of_a_new_one(dump: Path, file: Path) -> None:
    _made(dump, file)
    with Store.open(str(file)) as store, store._database.engine.connect() as connection:
        assert version_of(connection) == VERSION
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


@OLD
def test_a_failed_migration_leaves_the_store_as_it_was(dump: Path, file: Path) -> None:
    version = _made(dump, file)
    has_entries = version >= 5
    if has_entries:
        execute(file, "ALTER TABLE entries RENAME TO others")
    else:
        execute(file, "CREATE TABLE entries (own TEXT)")
    before = _dumped(file)
    told = "no such table: entries" if has_entries else "table entries already exists"
    with pytest.raises(StoreError, match=told):
        Store.open(str(file))
    assert _dumped(file) == before
    if has_entries:
        execute(file, "ALTER TABLE others RENAME TO entries")
    else:
        execute(file, "DROP TABLE entries")
    with Store.open(str(file)) as store:
        assert len(store.entries()) == (2 if version >= 2 else 3)


def _dumped(file: Path) -> list[str]:
    connection = sqlite3.connect(file)
    dumped = list(connection.iterdump())
    connection.close()
    return dumped


def test_several_open_an_older_store_at_once(file: Path) -> None:
    _made(DUMPS[0], file)
    failed: list[Exception] = []

    def opening() -> None:
        try:
            with Store.open(str(file)) as store:
                store.entries()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=opening) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with Store.open(str(file)) as store:
        assert len(store.entries()) == 3
