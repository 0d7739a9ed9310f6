"""A store on a real PostgreSQL server, which is restarted, stopped and cut off in between."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import PoolProxiedConnection, create_engine, text
from sqlalchemy.pool import NullPool
from support.samples import result

from harness.records.result import Result
from leaderboard import database, failures
from leaderboard.bulk import Bulk
from leaderboard.store import Store, StoreError
from tools.postgresql import PostgresqlMissing, Server, Stop

pytestmark = pytest.mark.corpus


@pytest.fixture
def server() -> Iterator[Server]:
    try:
        running = Server()
    except PostgresqlMissing as missing:
        pytest.skip(str(missing))
    with running:
        yield running


@pytest.fixture
def store(server: Server) -> Iterator[Store]:
    with Store(server.url) as opened:
        yield opened


@pytest.fixture
def meanwhile() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Starts something in a thread, which has ended when the test has."""
    threads: list[threading.Thread] = []

    def start(work: Callable[[], None]) -> None:
        threads.append(threading.Thread(target=work))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()


def _say(server: Server, statement: str) -> None:
    engine = create_engine(server.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))


@pytest.mark.parametrize(
    ("how", "down_s"), [("fast", 0), ("immediate", 0), ("fast", 4), ("immediate", 4)]
)
def test_a_restart_loses_nothing_and_ends_nothing(
    server: Server, store: Store, how: Stop, down_s: float, meanwhile: Callable[..., None]
) -> None:
    added: list[str] = []
    failed: list[Exception] = []
    over = threading.Event()

    def add() -> None:
        while not over.is_set():
            each = result()
            try:
                store.add(each)
                added.append(each.id)
            except Exception as error:
                failed.append(error)

    for _ in range(3):
        meanwhile(add)
    try:
        time.sleep(0.3)
        before = len(added)
        server.restart(how, down_s)
        time.sleep(1.5)
    finally:
        over.set()
    time.sleep(0.5)
    assert failed == []
    assert 0 < before < len(added)
    assert sorted(each.id for each in store.results()) == sorted(added)


def test_an_outage_is_told_once_with_its_limit(
    server: Server,
    store: Store,
    meanwhile: Callable[..., None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.stop("fast")

    def start() -> None:
        time.sleep(3)
        server.start()

    meanwhile(start)
    store.add(result())
    (told,) = caplog.messages
    assert "the database does not answer (" in told
    assert told.endswith("; waiting up to 120 s")


def test_a_store_can_be_opened_while_its_server_starts(
    server: Server, store: Store, meanwhile: Callable[..., None]
) -> None:
    kept = result()
    store.add(kept)
    server.stop("immediate")

    def start() -> None:
        time.sleep(2)
        server.start()

    meanwhile(start)
    with Store(server.url) as opened:
        assert list(opened.results()) == [kept]


def test_a_server_that_stays_away_is_given_up_in_time(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "AWAY_FOR", 2.0)
    server.stop("fast")
    started = time.monotonic()
    with pytest.raises(StoreError, match=r"no answer within 2 s: connection failed.*refused"):
        store.add(result())
    assert 2 < time.monotonic() - started < 10


def test_at_first_a_refusal_is_waited_for_shortly(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "UNKNOWN_FOR", 1.0)
    server.stop("fast")
    with pytest.raises(StoreError, match="no answer within 1 s"):
        Store(server.url)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@127.0.0.1", "@no-such-host.invalid", "resolve host"),
        ("harness@", "nobody@", "role .nobody. does not exist"),
        ("/postgres", "/nothing", "database .nothing. does not exist"),
    ],
)
def test_a_wrong_address_is_told_at_once(server: Server, old: str, new: str, message: str) -> None:
    started = time.monotonic()
    with pytest.raises(StoreError, match=message):
        Store(server.url.replace(old, new))
    assert time.monotonic() - started < 5


def test_a_standby_that_is_read_only_is_waited_for(
    server: Server, store: Store, meanwhile: Callable[..., None]
) -> None:
    server.stop("fast")
    server.start(default_transaction_read_only="on")

    def promote() -> None:
        time.sleep(2)
        server.restart("fast")

    meanwhile(promote)
    kept = result()
    store.add(kept)
    assert list(store.results()) == [kept]


def test_a_connection_that_was_ended_is_made_again(server: Server, store: Store) -> None:
    store.add(result())
    _say(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != "
                 "pg_backend_pid() AND backend_type = 'client backend'")  # fmt: skip
    store.add(result())
    assert len(list(store.results())) == 2


def test_too_many_connections_are_waited_out(
    server: Server, store: Store, meanwhile: Callable[..., None]
) -> None:
    store.close()
    server.stop("fast")
    server.start(max_connections="4", superuser_reserved_connections="0", max_wal_senders="0")
    engine = create_engine(server.url, poolclass=NullPool)
    taken = [engine.connect() for _ in range(4)]

    def release() -> None:
        time.sleep(2)
        for each in taken:
            each.close()

    meanwhile(release)
    with Store(server.url) as opened:
        opened.add(result())


def test_an_import_survives_restarts_and_is_whole(
    server: Server, store: Store, meanwhile: Callable[..., None]
) -> None:
    many = [result(author="nul\0") for _ in range(3000)]
    many[1000:1000] = many[:10]

    def restart() -> None:
        for _ in range(3):
            time.sleep(0.3)
            server.restart("immediate")

    with Bulk(many) as bulk:
        meanwhile(restart)
        store.add_all(bulk)
    assert [each.id for each in store.results()] == [each.id for each in many[:1000] + many[1010:]]
    assert len(store.entries()) == 3000


def test_imports_of_the_same_at_once(server: Server, meanwhile: Callable[..., None]) -> None:
    many = [result() for _ in range(600)]
    failed: list[Exception] = []

    def bring(some: list[Result]) -> None:
        try:
            with Bulk(some) as bulk, Store(server.url) as store:
                store.add_all(bulk)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=bring, args=(many[::step],)) for step in (1, -1, 2, -2, 1)]
    for thread in threads:
        thread.start()
    with Store(server.url) as store:
        for _ in range(20):
            store.add(result())
        for thread in threads:
            thread.join()
        assert failed == []
        assert len(list(store.results())) == 620


def test_a_writer_waits_for_another_and_gives_up_in_time(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.5)
    monkeypatch.setattr(failures, "TURN_FOR", 1.0)
    engine = create_engine(server.url, poolclass=NullPool)
    with engine.connect() as other, Bulk([result()]) as bulk:
        other.execute(text("LOCK TABLE results IN EXCLUSIVE MODE"))
        with pytest.raises(StoreError, match=r"no turn within 1 s.*lock timeout"):
            store.add_all(bulk)
        other.rollback()
        store.add_all(bulk)
    assert len(list(store.results())) == 1


def test_a_write_that_was_done_without_anybody_hearing_of_it_is_done_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect = store._database.engine.dialect
    commit = dialect.do_commit
    lost: list[PoolProxiedConnection] = []

    def commit_and_lose(connection: PoolProxiedConnection) -> None:
        commit(connection)
        if not lost:
            lost.append(connection)
            assert connection.driver_connection is not None
            connection.driver_connection.close()
            raise dialect.loaded_dbapi.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(dialect, "do_commit", commit_and_lose)
    kept = result()
    store.add(kept)
    assert lost
    assert list(store.results()) == [kept]
