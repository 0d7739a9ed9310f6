"""Processes that cannot be ended are watched and named, and disturb nobody for long."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.naps import until

from harness.sandbox import leftovers

MONITOR: Any = SimpleNamespace(poll=lambda: 0)


def handles(process: "subprocess.Popen[bytes]") -> dict[int, int]:
    """What is known of one that was killed; nothing if it is gone."""
    return {} if process.poll() is not None else {os.pidfd_open(process.pid): process.pid}


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does not end when it is killed: as if the kernel held it."""
    monkeypatch.setattr(leftovers, "_END_SECONDS", 0.0)
    monkeypatch.setattr(leftovers, "_SLOW_SECONDS", 0.3)
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()
    assert until(lambda: not leftovers.notes())


def test_what_cannot_be_ended_is_named_until_it_is_gone(
    stuck: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    folder = tmp_path / "sandbox"
    folder.mkdir()
    assert not leftovers.end(handles(stuck), MONITOR, folder)
    (note,) = leftovers.notes()
    assert f"sleep {stuck.pid}, state S" in note
    assert "is the driver stuck?" in note
    assert folder.exists()
    # Others end meanwhile, and that does not take longer.
    started = time.monotonic()
    with subprocess.Popen(["true"]) as other:
        other.wait()
        assert leftovers.end(handles(other), MONITOR, tmp_path / "other")
    assert time.monotonic() - started < 5
    assert leftovers.notes() == (note,)
    stuck.kill()
    stuck.wait()
    assert leftovers.notes() == ()
    assert not folder.exists()


def test_the_last_words_name_what_is_left(
    stuck: "subprocess.Popen[bytes]", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leftovers.end(handles(stuck), MONITOR, tmp_path / "none")
    leftovers._report()
    assert f"harness: a process of a submission could not be ended (sleep {stuck.pid}" in (
        capsys.readouterr().err
    )


def test_a_slow_kernel_is_given_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Killed, but not gone within the first limit: it ends while it is waited for."""
    with subprocess.Popen(["sleep", "0.5"]) as process:
        monkeypatch.setattr(leftovers, "_END_SECONDS", 0.0)
        assert leftovers.end(handles(process), MONITOR, tmp_path / "none")
    assert leftovers.notes() == ()


def assert_set(event: threading.Event) -> None:
    assert event.wait(20)


def test_everyone_waits_for_what_was_left_for_later() -> None:
    over, settled = threading.Event(), []

    def settle() -> None:
        leftovers.settle()
        settled.append(over.is_set())

    threads = [threading.Thread(target=settle) for _ in range(3)]
    leftovers.later(partial(assert_set, over))
    for thread in threads:
        thread.start()
    over.set()
    for thread in threads:
        thread.join(20)
    assert settled == [True] * 3
    leftovers.settle()


def test_what_goes_wrong_in_the_end_is_told_once() -> None:
    def fails() -> None:
        raise OSError("no group")

    leftovers.later(fails)
    with pytest.raises(OSError, match="no group"):
        leftovers.settle()
    leftovers.settle()


def test_a_process_held_by_the_kernel_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {
        "D": ["D", *"01234", "0"],
        "ending": ["D", *"01234", "4194308"],
        "R": ["R", *"012345"],
    }
    found = {}
    for name, fields in states.items():
        monkeypatch.setattr(leftovers, "_stat", lambda _, fields=fields: fields)
        found[name] = leftovers._on_its_way(1)
    assert found == {"D": False, "ending": True, "R": True}


def test_many_are_counted_and_few_are_named() -> None:
    sentence = leftovers._sentence(list(range(2**22, 2**22 + 1000)))
    assert sentence.startswith("1000 processes of submissions could not be ended (")
    assert len(sentence) < 400
