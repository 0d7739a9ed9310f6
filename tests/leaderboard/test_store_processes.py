"""Several writers at once, and writers that are killed."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leaderboard.store import CorruptRecord, Store

WRITER = Path(__file__).with_name("writer.py")


def _writer(file: Path, prefix: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WRITER), str(file), prefix, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _stored(file: Path) -> list[str]:
    damaged: list[CorruptRecord] = []
    with Store.open(str(file)) as store:
        ids = [each.id for each in store.results(on_corrupt=damaged.append)]
    assert damaged == []
    return ids


@pytest.mark.corpus
def test_several_processes_write_at_once(tmp_path: Path) -> None:
    # None of them finds the file: they also race for making it.
    file = tmp_path / "results.sqlite"
    writers = [_writer(file, f"w{number}", 40) for number in range(4)]
    acknowledged: list[str] = []
    for writer in writers:
        out, _ = writer.communicate(timeout=300)
        assert writer.returncode == 0
        acknowledged += out.split()
    assert len(acknowledged) == 160
    stored = _stored(file)
    assert sorted(stored) == sorted(acknowledged)
    for number in range(4):
        mine = [each for each in stored if each.startswith(f"w{number}-")]
        assert mine == [f"w{number}-{place}" for place in range(40)]


@pytest.mark.corpus
def test_nothing_acknowledged_is_lost_to_a_kill(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    acknowledged: list[str] = []
    for attempt in range(4):
        writer = _writer(file, f"a{attempt}", 1_000_000)
        assert writer.stdout is not None
        acknowledged.append(writer.stdout.readline().strip())
        time.sleep(random.uniform(0.0, 0.15))
        writer.send_signal(signal.SIGKILL)
        # What it had printed before it died is still in the pipe; a torn last line is not an
        # acknowledgement.
        acknowledged += [line.strip() for line in writer.stdout.readlines() if line.endswith("\n")]
        writer.stdout.close()
        assert writer.wait(timeout=60) == -signal.SIGKILL
        stored = _stored(file)
        assert set(acknowledged) <= set(stored)
        # At most one result a kill was written and not yet acknowledged.
        assert len(stored) - len(acknowledged) <= attempt + 1
    assert len(acknowledged) > 5


def test_a_writer_killed_before_its_first_result_leaves_a_store(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    file.touch()  # as if it had died between making the file and its tables
    assert _stored(file) == []
