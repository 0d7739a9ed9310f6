"""The store: idempotent, append-only, honest about damage, and of the right schema."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, insert, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable
from support.by_hand import execute
from support.samples import failed, result

from harness.records.refs import SolutionRef
from harness.records.result import Result
from leaderboard import database, rows, schema
from leaderboard.location import default_store_url, store_url
from leaderboard.store import CorruptRecord, Store, StoreError


def test_results_come_back_equal_and_in_order(opened: Store) -> None:
    added = [result(minutes=5), failed(minutes=3), result(problem="relu")]
    for each in added:
        opened.add(each)
    # As JSON: a NaN among the elements does not equal itself.
    assert [each.to_json() for each in opened.results()] == [each.to_json() for each in added]
    assert [each.id for each in opened.results("gemm")] == [each.id for each in added[:2]]
    assert list(opened.results("no such")) == []


def test_results_survive_closing(file: Path) -> None:
    kept = result()
    with Store.open(str(file)) as first:
        first.add(kept)
    with Store(store_url(file)) as second:
        assert list(second.results()) == [kept]


def test_reading_goes_over_several_pages(opened: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PAGE", 3)
    added = [result() for _ in range(10)]
    for each in added:
        opened.add(each)
    assert list(opened.results()) == added


def test_adding_again_changes_nothing(opened: Store) -> None:
    once = result()
    opened.add(once)
    opened.add(once)
    assert list(opened.results()) == [once]


def test_a_different_result_with_the_same_id_is_refused(opened: Store) -> None:
    first = result(id="same")
    opened.add(first)
    with pytest.raises(StoreError, match="'same' is already there; results are never replaced"):
        opened.add(result(id="same", seed="other"))
    assert list(opened.results()) == [first]


def test_writing_while_reading(opened: Store) -> None:
    opened.add(result())
    for each in opened.results():
        if each.seed == "123456789":
            opened.add(result(seed="later"))
    assert len(list(opened.results())) == 2


def test_strange_text_comes_back(opened: Store) -> None:
    strange = result(author="a\0b\ud800\u202e'; DROP TABLE results;--", output="\x1b[31m\0")
    opened.add(strange)
    assert list(opened.results()) == [strange]


def test_in_memory() -> None:
    with Store("sqlite://") as opened:
        opened.add(result())
        assert len(list(opened.results())) == 1


def test_durable_settings(opened: Store) -> None:
    with opened._database.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("UPDATE results SET record = replace(record, '1.31', '9.31') WHERE id = ?", "checksum"),
        ("UPDATE results SET record = CAST(x'ff00fe' AS TEXT) WHERE id = ?", "checksum"),
        ("UPDATE results SET record = x'00' WHERE id = ?", "checksum"),
        ("UPDATE results SET record = '' WHERE id = ?", "checksum"),
    ],
)
def test_a_damaged_row_is_reported_and_hides_nothing(
    opened: Store, file: Path, damage: str, reason: str
) -> None:
    added = [result(id=name) for name in ("one", "two", "three")]
    for each in added:
        opened.add(each)
    execute(file, damage, "two")
    found: list[CorruptRecord] = []
    assert list(opened.results(on_corrupt=found.append)) == [added[0], added[2]]
    assert [row.id for row in found] == ["two"]
    assert reason in found[0].reason


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2}', '{"schema": 1}', "[" * 100_000])
def test_a_record_that_cannot_be_read_is_reported(
    opened: Store, file: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    opened.add(result(id="bad"))
    opened.add(result(id="good"))
    execute(
        file,
        "UPDATE results SET record = ?, checksum = ? WHERE id = 'bad'",
        text,
        schema.checksum(text),
    )
    assert [each.id for each in opened.results()] == ["good"]
    assert "result 'bad' (row 1) left out" in caplog.text


def test_a_record_under_a_wrong_id_is_reported(opened: Store, file: Path) -> None:
    opened.add(result(id="mine"))
    execute(file, "UPDATE results SET id = 'yours'")
    found: list[CorruptRecord] = []
    assert list(opened.results(on_corrupt=found.append)) == []
    assert found == [CorruptRecord(1, "yours", "the record is that of 'mine'")]


def test_a_newer_schema_is_refused(file: Path) -> None:
    Store.open(str(file)).close()
    execute(file, "UPDATE meta SET value = '8' WHERE key = 'schema'")
    with pytest.raises(StoreError, match=r"has schema 8, .* knows up to 7: upgrade the harness"):
        Store.open(str(file))


def test_an_older_schema_without_migration_is_refused_with_the_remedy(file: Path) -> None:
    Store.open(str(file)).close()
    execute(file, "UPDATE meta SET value = '0'")
    with pytest.raises(StoreError, match=r"no migration from 0: keep the file, and name a new"):
        Store.open(str(file))


def test_somebody_elses_database_is_left_alone(file: Path) -> None:
    execute(file, "CREATE TABLE recipes (name TEXT)")
    with pytest.raises(StoreError, match="something else than results"):
        Store.open(str(file))
    execute(file, "SELECT name FROM recipes")


def test_a_file_that_is_no_database(file: Path) -> None:
    file.write_text("problem,author\n" * 100)
    with pytest.raises(StoreError, match="not a database: name another file in HARNESS_STORE"):
        Store.open(str(file))


@pytest.mark.parametrize(
    ("pragma", "message"),
    [
        ("max_page_count = 1", "full: make room there, or name another store"),
        ("query_only = ON", "readonly database: copy the file to where you may write"),
    ],
)
def test_a_store_that_cannot_be_written_any_more(file: Path, pragma: str, message: str) -> None:
    large = [result(output="x" * 100_000) for _ in range(10)]
    with Store.open(str(file)) as opened:

        @event.listens_for(opened._database.engine, "begin")
        def spoil(connection: Connection) -> None:
            connection.exec_driver_sql(f"PRAGMA {pragma}")

        with pytest.raises(StoreError, match=message):
            for each in large:
                opened.add(each)


def test_a_file_that_cannot_be_opened(file: Path) -> None:
    file.mkdir()
    with pytest.raises(StoreError, match="in a folder that you may write"):
        Store.open(str(file))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        Store.open(str(tmp_path / "file" / "results.sqlite"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mydb://host", "unknown kind of database"),
        ("mysql://me:secret@host/db", "unknown kind of database; sqlite or postgresql"),
        ("://", "not a database URL"),
        ("postgresql://host:port/db", "not a database URL"),
        ("postgresql+pg8000://me:secret@host/db", "the driver is missing: pip install pg8000"),
    ],
)
def test_urls_that_do_not_work(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        Store(url)
    assert "secret" not in str(caught.value)


def test_postgres_is_postgresql_as_many_hosts_write_it() -> None:
    engine, _ = database._engine("postgres://me:secret@host/db")
    assert engine.url.get_backend_name() == "postgresql"
    engine.dispose()


def test_the_schema_and_queries_are_postgresqls_too() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    tables = [
        str(CreateTable(table).compile(dialect=dialect)) for table in schema.METADATA.sorted_tables
    ]
    assert any("seq BIGSERIAL NOT NULL" in text for text in tables)
    (index,) = schema.RESULTS.indexes
    assert "CREATE INDEX" in str(CreateIndex(index).compile(dialect=dialect))
    assert "LIMIT" in str(rows.page(after=3, problem="gemm").compile(dialect=dialect))
    row = schema.row_of(result(author="nul\0"))
    assert not any("\0" in value for value in row.values())
    text = str(insert(schema.RESULTS).values(row).compile(dialect=dialect))
    assert "RETURNING results.seq" in text
    where = select(schema.RESULTS.c.checksum).where(schema.RESULTS.c.id == "x")
    assert "WHERE results.id = " in str(where.compile(dialect=dialect))


def test_the_columns_are_those_of_the_result(opened: Store, file: Path) -> None:
    opened.add(result(author="alice", solution_hash="abc", harness="1.2.3"))
    connection = sqlite3.connect(file)
    row = connection.execute(
        "SELECT created, problem, problem_hash, dtype, device_kind, verdict, author,"
        " solution_hash, harness_version FROM results"
    ).fetchone()
    connection.close()
    assert row == (
        "2026-03-01T12:00:00.000005+00:00",
        *("gemm", "p1", "float32", "cuda", "ACCEPTED", "alice", "abc", "1.2.3"),
    )


def test_a_forked_child_opens_its_own_connection(file: Path) -> None:
    script = """if True:
        import os, sys
        from support.samples import result
        from leaderboard.store import Store
        store = Store.open(sys.argv[1])
        store.add(result(id="parent before"))
        if os.fork() == 0:
            store.add(result(id="child"))
            store.close()
            os._exit(0)
        assert os.wait()[1] == 0
        store.add(result(id="parent after"))
        print(*[each.id for each in store.results()], sep=",")
    """
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(file)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PYTHONPATH": f"{tests}:{tests.parent}"},
    )
    assert done.stdout == "parent before,child,parent after\n"


def test_default_location(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HARNESS_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_store_url() == f"sqlite:///{tmp_path}/kernel-harness/results.sqlite"


def test_the_environment_overrides_the_location(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HARNESS_STORE", "postgresql://host/db")
    assert default_store_url() == "postgresql://host/db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STORE", "strange %20?#name.sqlite")
    with Store.open() as opened:
        opened.add(result())
    assert (tmp_path / "strange %20?#name.sqlite").exists()


def test_a_result_with_the_id_of_a_solution_path_keeps_it(opened: Store) -> None:
    reference = SolutionRef(author="", name="", language="cuda", hash="", path="../\udcff.cu")
    opened.add(result(solution=reference))
    (back,) = opened.results()
    assert isinstance(back, Result)
    assert back.solution.path == "../\\udcff.cu"


def test_results_are_found_by_their_ids(opened: Store) -> None:
    added = [result(id=name) for name in ("one", "two", "nul\0")]
    for each in added:
        opened.add(each)
    assert list(opened.named(["nul\0", "one", "nobody"])) == [added[0], added[2]]
    assert list(opened.named([])) == []
