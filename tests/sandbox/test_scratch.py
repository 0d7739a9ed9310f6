"""Temporary folders: gone with their judge, or with the next one."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import scratch

JUDGE = """
import sys, tempfile
from harness.sandbox.scratch import home
tempfile.mkdtemp(prefix="work-", dir=home())
print(home(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    known = dict(scratch._homes)
    yield tmp_path
    scratch._homes.clear()
    scratch._homes.update(known)


def _judge(place: Path) -> tuple["subprocess.Popen[str]", Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", JUDGE],
        env={**os.environ, "TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_judge_has_one_folder(place: Path) -> None:
    assert scratch.home() == scratch.home()
    assert scratch.home().parent == place
    assert os.listdir(place) == [scratch.home().name]


def test_the_folder_is_removed_when_the_judge_ends(place: Path) -> None:
    process, folder = _judge(place)
    assert folder.is_dir()
    process.communicate("")
    assert os.listdir(place) == []


def test_the_next_judge_removes_the_folder_of_a_killed_one(place: Path) -> None:
    killed, left = _judge(place)
    living, kept = _judge(place)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left.is_dir()
    mine = scratch.home()
    assert sorted(place.iterdir()) == sorted([kept, mine])
    assert [path.name[:5] for path in kept.iterdir() if path.is_dir()] == ["work-"]
    living.communicate("")
    assert list(place.iterdir()) == [mine]


def test_folders_of_others_are_left_alone(place: Path) -> None:
    outside = place / "outside"
    outside.mkdir()
    (outside / scratch.LOCK).touch()
    (place / "harness-link").symlink_to(outside)
    (place / "harness-file").touch()
    (place / "harness-empty").mkdir()
    (place / "harness-pipe").mkdir()
    os.mkfifo(place / "harness-pipe" / scratch.LOCK)
    (place / "harness-linked-lock").mkdir()
    (place / "harness-linked-lock" / scratch.LOCK).symlink_to(outside / scratch.LOCK)
    (place / "other-folder").mkdir()
    (place / "other-folder" / scratch.LOCK).touch()
    before = set(place.iterdir())
    mine = scratch.home()
    assert set(place.iterdir()) == before | {mine}
    assert (outside / scratch.LOCK).exists()


def test_a_folder_that_another_judge_removed_is_made_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes: list[int] = []
    true_lock = scratch._lock

    def stolen_at_first(descriptor: int) -> bool:
        takes.append(descriptor)
        return len(takes) > 1 and true_lock(descriptor)

    monkeypatch.setattr(scratch, "_lock", stolen_at_first)
    folder = scratch.home()
    assert list(place.iterdir()) == [folder]
    with (folder / scratch.LOCK).open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_fork_has_its_own_folder_and_leaves_its_parents(place: Path) -> None:
    mine = scratch.home()
    pid = os.fork()
    if pid == 0:
        try:
            ok = scratch.home() != mine
            scratch._remove_own()
            os._exit(0 if ok and mine.is_dir() else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    assert list(place.iterdir()) == [mine]
