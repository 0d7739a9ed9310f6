"""Signals end a command in order: what is begun is finished or undone, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.running import HANGS_S, ROOT, Command, listen

pytestmark = pytest.mark.corpus

SLEEPER = "import time\n\ndef solution(x, y, z, n):\n    time.sleep(25)\n"
ENDED = (
    (signal.SIGINT, 130, "interrupted"),
    (signal.SIGTERM, 143, "interrupted by SIGTERM"),
    (signal.SIGHUP, 129, "interrupted by SIGHUP"),
)

SMALL = """
import os, signal, sys, threading, time
from harness import signals
signals.catch(lambda: print("at once", flush=True))
def send(after, number=signal.SIGTERM):
    threading.Timer(after, os.kill, (os.getpid(), number)).start()
try:
    {body}
except KeyboardInterrupt as ended:
    signals.accept()
    print(ended)
finally:
    signals.leave()
"""


def small(body: str, cwd: Path, *, ignored: bool = False) -> tuple[int, str]:
    """Exit code and output of a small program that catches signals around ``body``."""
    lines = body.strip().replace("\n", "\n    ")
    done = subprocess.run(
        [sys.executable, "-c", SMALL.replace("{body}", lines)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{cwd}"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=HANGS_S,
        check=False,
        preexec_fn=_ignore if ignored else listen,
    )
    return done.returncode, done.stdout


def _ignore() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize(("number", "_code", "words"), ENDED)
def test_a_signal_is_raised(number: int, _code: int, words: str, tmp_path: Path) -> None:
    body = f"send(0.1, {int(number)})\ntime.sleep(60)"
    assert small(body, tmp_path) == (0, f"{words}\n")


def test_it_waits_for_the_end_of_what_is_held(tmp_path: Path) -> None:
    body = "send(0.1)\nwith signals.held():\n    time.sleep(0.5)\n    print('done')\nprint('more')"
    assert small(body, tmp_path) == (0, "done\ninterrupted by SIGTERM\n")


def test_it_waits_for_the_end_of_an_import(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.5)\nprint('imported')\n")
    body = "send(0.1)\nimport slow\ntime.sleep(60)"
    assert small(body, tmp_path) == (0, "imported\ninterrupted by SIGTERM\n")


def test_it_does_not_wait_for_a_long_import(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    assert small("send(0.1)\nimport slow", tmp_path) == (0, "interrupted by SIGTERM\n")


def test_one_that_was_swallowed_is_raised_again(tmp_path: Path) -> None:
    body = "send(0.1)\ntry:\n    time.sleep(60)\nexcept BaseException:\n    pass\ntime.sleep(60)"
    assert small(body, tmp_path) == (0, "interrupted by SIGTERM\n")


def test_cleaning_up_is_not_interrupted_by_the_same_signal(tmp_path: Path) -> None:
    body = """
send(0.1); send(0.2)
try:
    time.sleep(60)
finally:
    try:
        [].pop()
    except IndexError:
        time.sleep(0.5)
    print("clean")
"""
    assert small(body, tmp_path) == (0, "clean\ninterrupted by SIGTERM\n")


def test_an_alarm_that_comes_while_a_command_leaves_is_too_late(tmp_path: Path) -> None:
    body = """
plain = signal.setitimer
def late(which, seconds):
    if not seconds:
        signals._on_alarm(signal.SIGALRM, None)
    return plain(which, seconds)
signals._ending.cause, signals._ending.since = signals.Ended(signal.SIGTERM), time.monotonic()
signal.setitimer = late
"""
    assert small(body, tmp_path) == (0, "")


def test_a_second_one_ends_at_once(tmp_path: Path) -> None:
    body = "send(0.1); send(1.5)\ntry:\n    time.sleep(60)\nfinally:\n    time.sleep(60)"
    assert small(body, tmp_path) == (143, "at once\n")


def test_what_is_left_to_be_done_at_the_exit_is_not_interrupted(tmp_path: Path) -> None:
    body = """
import atexit
atexit.register(lambda: (time.sleep(0.3), print("removed")))
send(0.1)
"""
    assert small(body, tmp_path) == (0, "removed\n")


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    body = "send(0.1, signal.SIGINT); send(0.3)\ntime.sleep(60)"
    assert small(body, tmp_path, ignored=True) == (0, "interrupted by SIGTERM\n")


def test_a_limit_is_raised_and_forgotten(tmp_path: Path) -> None:
    body = """
try:
    with signals.limited(0.1):
        time.sleep(60)
except signals.OutOfTime as over:
    print(over)
with signals.limited(None), signals.limited(30):
    time.sleep(0.2)
print(signals.cause())
"""
    assert small(body, tmp_path) == (0, "--limit-s 0.1 is over\nNone\n")


def test_a_signal_counts_within_a_limit(tmp_path: Path) -> None:
    body = "send(0.1)\nwith signals.limited(0.3):\n    time.sleep(60)"
    assert small(body, tmp_path) == (0, "interrupted by SIGTERM\n")


@pytest.fixture
def sleeper(tmp_path: Path) -> Path:
    path = tmp_path / "solutions/vector-add/me/sleeps.py"
    path.parent.mkdir(parents=True)
    path.write_text(SLEEPER)
    return path


def _sleeps(command: Command) -> bool:
    """Whether the submission is at work: the judge's folder has its sandbox."""
    return any(command.folder.glob("harness-*/sandbox-*"))


def _has_children(command: Command) -> bool:
    return bool(command.below())


@pytest.mark.parametrize(("number", "code", "words"), ENDED)
@pytest.mark.parametrize("moment", [_has_children, _sleeps])
def test_a_grade_ends_in_order(
    moment: Callable[[Command], bool],
    number: int,
    code: int,
    words: str,
    tmp_path: Path,
    sleeper: Path,
) -> None:
    places = ["--problems", str(ROOT / "problems"), "--device", "cpu"]
    command = Command(tmp_path, "check", str(sleeper), *places)
    command.wait_for(lambda: moment(command))
    time.sleep(0.3)
    assert command.end(number) == (code, words)
