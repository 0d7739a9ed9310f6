"""The processes of a sandbox are known one by one, and not by their numbers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness.sandbox import members, processes
from harness.sandbox.members import Members

TREE = """
import os, sys, time
if os.fork() == 0:  # stands for init
    for _ in range(2):
        if os.fork() == 0:
            time.sleep(60)
    print("started", flush=True)
    while True:
        os.wait()
        if os.fork() == 0:
            time.sleep(60)
        print("replaced", flush=True)
time.sleep(60)
"""


@pytest.fixture
def tree() -> Iterator[subprocess.Popen[str]]:
    """A process whose only child has two more, and replaces those that end."""
    with subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "started\n"
        found = Members(run.pid)
        yield run
        pids = found.look()
        below = [found.init, *pids]
        run.kill()
        for pid in below:
            os.kill(pid, signal.SIGKILL)
        found.close()


def test_all_but_the_first_below_the_monitor_are_members(tree: subprocess.Popen[str]) -> None:
    found = Members(tree.pid)
    pids = found.look()
    assert len(pids) == 2
    assert found.init not in (0, *pids)
    assert found.running() == 2
    found.close()
    assert found.running() == 0


def test_a_replaced_process_is_found_though_the_same_numbers_are_listed(
    tree: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = ["1", "2", "3", "self", "meminfo"]
    monkeypatch.setattr(members.os, "listdir", _listdir(listed))
    found = Members(tree.pid)
    first = found.look()
    assert found.look() == first
    os.kill(first[0], signal.SIGKILL)
    assert tree.stdout is not None
    assert tree.stdout.readline() == "replaced\n"
    second = found.look()
    assert len(second) == 2
    assert first[0] not in second
    assert first[1] in second
    found.close()


def test_a_listing_with_more_than_is_known_is_looked_into(
    tree: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = []
    monkeypatch.setattr(members.os, "listdir", _listdir(["1", "2", "3", "4"]))
    found = Members(tree.pid)
    plain = found._walk
    monkeypatch.setattr(found, "_walk", lambda: walks.append(plain()))
    for _ in range(3):
        found.look()
    assert len(walks) == 3
    found.close()


def test_one_that_the_quick_walk_misses_is_found(
    tree: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = processes.family
    monkeypatch.setattr(processes, "family", lambda root: plain(root)[:-1])
    monkeypatch.setattr(members.os, "listdir", _listdir(["1", "2", "3", "self"]))
    found = Members(tree.pid)
    assert len(found.look()) == 2
    assert len(found.look()) == 2
    found.close()


def _listdir(listed: list[str]):
    plain = os.listdir

    def listdir(path: str) -> list[str]:
        return listed if str(path).endswith("/root/proc") else plain(path)

    return listdir
