"""Many results and rulings in one transaction: all or none, in order, beside other writers."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, event
from support.samples import failed, result

from harness.records.result import Result
from harness.records.ruling import Action, Ruling, rule
from leaderboard import bulk
from leaderboard.bulk import Bulk
from leaderboard.store import Store, StoreError


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "BATCH", 3)


def _invalid(id_: str) -> Ruling:
    return rule(id_, Action.INVALIDATED, who="carol", reason="precomputed")


def _add(store: Store, *entries: Result | Ruling) -> Bulk:
    with Bulk(entries) as many:
        store.add_all(many)
    return many


def test_all_arrive_in_their_order_as_if_added_one_by_one(opened: Store) -> None:
    first = result()
    opened.add(first)
    many = [result(), failed(), result(author="nul\0é\ud800"), *(result() for _ in range(6))]
    ruled = [_invalid(many[1].id), _invalid("not there"), _invalid(many[7].id)]
    added = _add(opened, *many[:4], *ruled, *many[4:])
    assert added.count == {Result: 9, Ruling: 3}
    assert [each.to_json() for each in opened.recorded()] == [r.to_json() for r in [first, *many]]
    assert list(opened.rulings()) == ruled
    counting = [each.id for each in [first, *many] if each not in (many[1], many[7])]
    assert opened.entries()["result"].tolist() == counting


def test_what_is_there_stays(opened: Store) -> None:
    kept, ruling = result(), _invalid("one")
    _add(opened, kept, ruling)
    later = result()
    # Known from before, from another batch, and from the same.
    _add(opened, kept, later, later, result(), later, ruling, ruling)
    assert [each.id for each in opened.recorded()][:2] == [kept.id, later.id]
    assert len(list(opened.recorded())) == 3
    assert list(opened.rulings()) == [ruling]


@pytest.mark.parametrize("before", [0, 1, 2, 5])
def test_a_collision_leaves_nothing_behind(opened: Store, before: int) -> None:
    opened.add(result(id="there"))
    others = [result() for _ in range(before)]
    with pytest.raises(StoreError, match=r"'there' is already there; .*; nothing was added"):
        _add(opened, *others, _invalid("x"), result(id="there", seed="7"), result())
    assert [each.id for each in opened.recorded()] == ["there"]
    assert list(opened.rulings()) == []
    assert len(opened.entries()) == 1


@pytest.mark.parametrize("between", [0, 1, 4])
def test_two_that_differ_under_one_id_leave_nothing_behind(opened: Store, between: int) -> None:
    others = [result() for _ in range(between)]
    with pytest.raises(StoreError, match=r"different result with id 'one'.*; nothing was added"):
        _add(opened, result(id="one"), *others, result(id="one", seed="7"))
    one = _invalid("one")
    with pytest.raises(StoreError, match=r"a different ruling with id .*; nothing was added"):
        _add(opened, one, *others, one.model_copy(update={"who": "mallory"}))
    assert list(opened.recorded()) == []
    assert list(opened.rulings()) == []


def test_an_error_in_what_is_read_comes_before_the_transaction(opened: Store) -> None:
    def read() -> Iterator[Result]:
        yield from (result() for _ in range(5))
        raise ValueError("line 6")

    with pytest.raises(ValueError, match="line 6"):
        _add(opened, *read())
    assert list(opened.recorded()) == []


def test_there_is_one_commit(opened: Store) -> None:
    commits: list[Connection] = []
    event.listen(opened._database.engine, "commit", commits.append)
    _add(opened, *(result() for _ in range(20)))
    assert len(commits) == 1


def test_a_thousand_take_few_statements(opened: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    said: list[str] = []

    @event.listens_for(opened._database.engine, "before_cursor_execute")
    def note(_1: object, _2: object, statement: str, *_: object) -> None:
        said.append(statement)

    _add(opened, *(result() for _ in range(1000)))
    assert len(said) < 30
    assert len(opened.entries()) == 1000


def test_several_at_once_and_beside_a_writer(file: Path) -> None:
    Store.open(str(file)).close()
    shared = [result() for _ in range(40)]
    own = [result() for _ in range(40)]
    failures: list[Exception] = []

    def bring(many: list[Result]) -> None:
        try:
            with Store.open(str(file)) as store:
                _add(store, *many)
        except Exception as error:
            failures.append(error)

    def write() -> None:
        try:
            with Store.open(str(file)) as store:
                for each in own:
                    store.add(each)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=bring, args=(shared[::step],)) for step in (1, -1, 2, -2)]
    threads.append(threading.Thread(target=write))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Store.open(str(file)) as store:
        stored = sorted(each.id for each in store.recorded())
    assert stored == sorted(each.id for each in shared + own)


def test_reading_what_is_added_locks_nobody_out(file: Path) -> None:
    waited: list[float] = []

    def read() -> Iterator[Result]:
        yield result()
        started = time.monotonic()
        with Store.open(str(file)) as other:  # in the middle of the import
            other.add(result())
        waited.append(time.monotonic() - started)
        yield result()

    with Store.open(str(file)) as store, Bulk(read()) as many:
        store.add_all(many)
        assert len(list(store.recorded())) == 3
    assert waited[0] < 10
