"""A grade that its store does not take is not lost."""

import contextlib
import json
import shlex
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from support.plain_languages import install_plain_languages
from support.samples import result

from harness import cli
from harness.commands.exchange import read_lines, take_in
from harness.commands.recording import record
from harness.device import choose as device
from harness.errors import MachineError
from harness.records.result import Result
from leaderboard import database, failures
from leaderboard.store import Store, StoreError

PACKAGES = Path(__file__).parents[1] / "support/packages"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _refuse(error: BaseException) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        raise error

    return refuse


def test_what_the_store_refuses_is_kept_for_import(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded = result()
    with Store("sqlite://") as store:
        monkeypatch.setattr(store, "add", _refuse(StoreError("database or disk is full")))
        with pytest.raises(MachineError) as told:
            record(graded, None, store)
    (kept,) = cache.iterdir()
    assert kept.name == f"harness-unrecorded-{graded.id}.jsonl"
    assert list(read_lines(kept)) == [graded]
    first, second = str(told.value).splitlines()
    assert first == "database or disk is full"
    assert f"`harness import --trust {kept}`" in second


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143), MemoryError()])
def test_what_is_interrupted_is_kept(
    cache: Path, end: BaseException, capfd: pytest.CaptureFixture[str]
) -> None:
    graded = result()
    with Store("sqlite://") as store, pytest.raises(type(end)):
        record(graded, None, store, _refuse(end))
    (kept,) = cache.iterdir()
    assert list(read_lines(kept)) == [graded]
    assert str(kept) in capfd.readouterr().err


def test_what_was_changed_last_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graded, finished = result(), result(seed="7")
    with Store("sqlite://") as store:
        monkeypatch.setattr(store, "add", _refuse(StoreError("gone")))
        with pytest.raises(MachineError):
            record(graded, None, store, lambda _: finished)
    (kept,) = cache.iterdir()
    assert list(read_lines(kept)) == [finished]


def test_without_a_cache_it_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Store("sqlite://") as store:
        monkeypatch.setattr(store, "add", _refuse(StoreError("gone")))
        for attempt in range(2):
            graded = result(id="same")
            with pytest.raises(MachineError) as told:
                record(graded, None, store)
            kept = tmp_path / "harness-unrecorded-same.jsonl"
            # What lies there already is left alone, and then the result itself is told.
            place = f"import --trust {kept}`" if not attempt else graded.to_json()
            assert place in str(told.value)


def test_a_lock_that_is_never_let_go_loses_no_grade(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.1)
    monkeypatch.setattr(failures, "TURN_FOR", 0.3)
    file, graded = tmp_path / "results.sqlite", result()
    with Store.open(str(file)) as store, contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(MachineError, match="no turn within"):
            record(graded, None, store)
        other.rollback()
        (kept,) = cache.iterdir()
        assert take_in(read_lines(kept), str(file)) == {Result: 1}
        assert list(store.results()) == [graded]


def test_submit_tells_where_the_grade_is(
    tmp_path: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    stand_in_for_torch: None,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def run(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["harness", *words])
        try:
            cli.main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    monkeypatch.setattr(device, "gpu_present", lambda: False)
    monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "results.sqlite"))
    install_plain_languages(monkeypatch)
    file = tmp_path / "mine.py"
    file.write_text("def solution(x, s, y, n):\n    for i in range(n):\n        y[i] = x[i] + s\n")
    submit = ("submit", str(file), "--problem", "shift", "--problems", str(PACKAGES), "--json", "-")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", _refuse(StoreError("disk full")))
        assert run(*submit) == MachineError.exit_code
    out, err = capfd.readouterr()
    assert out == ""
    assert "error: disk full" in err
    command = err.partition("`")[2].partition("`")[0]
    assert run(*shlex.split(command)[1:]) == 0
    assert run(*submit, "--resume") == 0
    assert "recorded already" in capfd.readouterr().err
    with Store.open() as store:
        (recorded,) = store.results()
    assert json.loads(recorded.to_json())["verdict"] == "ACCEPTED"
