"""Rulings: kept beside results, and respected by everybody who reads them."""

import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.by_hand import execute
from support.samples import result

from harness.records.ruling import Action, Ruling, rule
from leaderboard import rows
from leaderboard.schema import checksum
from leaderboard.store import Store, StoreError, Which


def _invalid(id_: str, reason: str = "precomputed") -> Ruling:
    return rule(id_, Action.INVALIDATED, who="carol", reason=reason)


def _again(id_: str) -> Ruling:
    return rule(id_, Action.REINSTATED, who="carol")


def _counting(store: Store) -> list[str]:
    """Ids of what counts, which all readers must agree on."""
    ids = [each.id for each in store.results()]
    assert store.entries()["result"].tolist() == ids
    return ids


def test_an_invalidated_result_is_recorded_and_counts_nowhere(opened: Store) -> None:
    added = [result(id=name) for name in ("one", "two", "nul\0")]
    for each in added:
        opened.add(each)
    opened.add_ruling(_invalid("two"))
    opened.add_ruling(_invalid("nul\0"))
    assert _counting(opened) == ["one"]
    assert list(opened.recorded()) == added
    assert list(opened.named(["two"])) == [added[1]]
    opened.add_ruling(_again("two"))
    assert _counting(opened) == ["one", "two"]
    assert [each.action for each in opened.rulings(["two"])] == list(Action)
    assert [each.result for each in opened.rulings()] == ["two", "nul\0", "two"]


def test_the_ruling_that_arrived_last_holds_whatever_its_date(opened: Store) -> None:
    opened.add(result(id="one"))
    first, second = _invalid("one"), _again("one")
    opened.add_ruling(second)
    opened.add_ruling(first)
    assert _counting(opened) == []
    opened.add_ruling(second)  # known: changes nothing
    assert _counting(opened) == []


def test_a_ruling_may_come_before_its_result(opened: Store) -> None:
    opened.add_ruling(_invalid("one"))
    opened.add(result(id="one"))
    assert _counting(opened) == []


def test_a_different_ruling_with_the_same_id_is_refused(opened: Store) -> None:
    first = _invalid("one")
    opened.add_ruling(first)
    with pytest.raises(StoreError, match="a different ruling with id"):
        opened.add_ruling(first.model_copy(update={"reason": "another"}))
    assert list(opened.rulings()) == [first]


def test_reading_rulings_goes_over_several_pages(
    opened: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "PAGE", 2)
    for number in range(5):
        opened.add(result(id=f"r{number}"))
        opened.add_ruling(_invalid(f"r{number}"))
    opened.add_ruling(_again("r3"))
    assert _counting(opened) == ["r3"]


@pytest.mark.parametrize(
    "record", ["{", "[]", '{"ruling": 2}', _invalid("other").to_json(), _again("one").to_json()]
)
def test_behind_a_damaged_ruling_a_result_does_not_count(
    opened: Store, file: Path, record: str, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("one", "two"):
        opened.add(result(id=name))
    opened.add_ruling(_again("one"))
    execute(file, "UPDATE rulings SET record = ?, checksum = ?", record, checksum(record))
    assert _counting(opened) == ["two"]
    assert "left out" in caplog.text
    execute(file, "UPDATE rulings SET checksum = 'x'")
    assert _counting(opened) == ["two"]
    opened.add_ruling(_again("one"))
    assert _counting(opened) == ["one", "two"]


def test_a_store_from_before_there_were_rulings_goes_on(file: Path) -> None:
    stores = Path(__file__).parent / "stores"
    connection = sqlite3.connect(file)
    connection.executescript((stores / "v1.sql").read_text(encoding="utf-8"))
    connection.close()
    with Store.open(str(file)) as second:
        assert _counting(second) == ["one", "two", "three"]
        second.add_ruling(_invalid("two"))
    with Store.open(str(file)) as third:
        assert _counting(third) == ["one", "three"]


@pytest.mark.corpus
@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12))
def test_any_order_of_rulings(rulings: list[tuple[int, bool]]) -> None:
    """The last word decides for each result, and for no other."""
    with Store("sqlite://") as store:
        for number in range(4):
            store.add(result(id=f"r{number}"))
        expected = dict.fromkeys(range(4), True)
        for number, valid in rulings:
            store.add_ruling((_again if valid else _invalid)(f"r{number}"))
            expected[number] = valid
        assert _counting(store) == [f"r{number}" for number in range(4) if expected[number]]


def test_a_deleted_result_is_gone(opened: Store, file: Path) -> None:
    kept, gone = result(id="kept"), result(id="gone")
    for each in (gone, kept):
        opened.add(each)
    opened.delete(["gone", "nobody"])
    assert _counting(opened) == ["kept"]
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    connection.close()
    opened.add(gone)
    assert _counting(opened) == ["kept", "gone"]


def test_a_result_with_a_ruling_is_not_deleted(opened: Store) -> None:
    for name in ("one", "two"):
        opened.add(result(id=name))
    opened.add_ruling(_invalid("two"))
    with pytest.raises(StoreError, match="two cannot be deleted: there is a ruling about it"):
        opened.delete(["one", "two"])
    assert [each.id for each in opened.recorded()] == ["one", "two"]


def test_the_newest_first(opened: Store) -> None:
    for number in range(4):
        author = "alice" if number % 2 else "bob"
        opened.add(result(id=f"r{number}", minutes=-number, author=author))
    opened.add_ruling(_invalid("r0"))
    assert [each.id for each in opened.newest(Which(), 3)] == ["r0", "r1", "r2"]
    assert [each.id for each in opened.newest(Which(author="alice"), 9)] == ["r1", "r3"]
    assert opened.newest(Which(author="\udcff\0", dtype="float16"), 9) == []


def test_ids_by_their_beginning(opened: Store) -> None:
    for name in ("abc", "abcd", "abX", "ABY", "a%c", "a_c"):
        opened.add(result(id=name))
    assert opened.ids_like("abc") == ["abc"]
    assert opened.ids_like("abcd") == ["abcd"]
    assert opened.ids_like("ab") == ["abX", "abc", "abcd"]
    assert opened.ids_like("a%") == ["a%c"]
    assert opened.ids_like("a_") == ["a_c"]
    assert opened.ids_like("\udcff") == []
    assert len(opened.ids_like("", limit=2)) == 2


def test_an_invalidation_says_why() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        _invalid("one", reason=" ")
    each = _invalid("one", reason="a\u202e\0")
    assert Ruling.from_json(each.to_json()) == each
    with pytest.raises(ValueError, match="ruling schema 2, this harness reads 1"):
        Ruling.from_json('{"ruling": 2}')


def test_every_key_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/result.md").read_text(encoding="utf-8")
    section = page.split("\n# Ruling\n")[1].split("\n# ")[0]
    assert re.findall(r"^- `(\w+)`: ", section, re.MULTILINE) == list(Ruling.model_fields)
    assert [each for each in Action if f"`{each}`" not in section] == []
