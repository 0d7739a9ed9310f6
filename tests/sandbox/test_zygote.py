"""The zygote from which sandboxes are forked: quick, clean, and gone with the judge."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from support.inside import STAND_IN, Inside, explore
from support.leftovers import zygote_processes
from support.naps import running, until

from harness.errors import MachineError
from harness.sandbox import processes, python_command
from harness.sandbox import zygote as module
from harness.sandbox.launch import Sandbox
from harness.sandbox.zygote import Zygote, zygote
from harness.session.start_runner import ENTRY, PRELOAD_COMPILED, PRELOAD_INTERPRETED

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
COMPILED = {"preload": PRELOAD_COMPILED, "environment": ENVIRONMENT}


def test_one_zygote_serves_all_with_the_same_packages_and_preload() -> None:
    path = [str(STAND_IN), *sys.path]
    first = zygote(path, **COMPILED)
    assert zygote(path, **COMPILED) is first
    assert zygote([*path, "/nowhere"], **COMPILED) is not first
    interpreted = zygote(path, preload=PRELOAD_INTERPRETED, environment=ENVIRONMENT)
    assert interpreted is not first
    assert {first.pid, interpreted.pid} <= set(zygote_processes())


def test_a_zygote_that_ended_is_replaced() -> None:
    path = [str(STAND_IN), *sys.path, "/replaced"]
    first = zygote(path, **COMPILED)
    os.kill(first.pid, signal.SIGKILL)
    assert until(lambda: not first.alive)
    again = zygote(path, **COMPILED)
    assert again is not first
    Sandbox(ENTRY, ENVIRONMENT, memory_bytes=1 << 30, zygote=again).close()
    assert again.alive


def test_one_submission_leaves_no_state_for_the_next() -> None:
    code = """
    import builtins, os, sys, torch
    seen = [hasattr(builtins, "left"), hasattr(torch, "left"), "left" in os.environ]
    builtins.left = torch.left = 1
    os.environ["left"] = "1"
    report(seen)
    """
    assert [explore(code, forked=True) for _ in range(2)] == [[False] * 3] * 2


def test_torch_is_there_before_the_submission_asks() -> None:
    assert explore("import sys; report('torch' in sys.modules)", forked=True) is True


def test_eight_sandboxes_are_forked_at_once() -> None:
    found: list[object] = []

    def look() -> None:
        found.append(explore("import os; report(os.getpid())", forked=True))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8


def test_the_exit_status_of_a_forked_sandbox_is_known() -> None:
    with Inside("import os; os._exit(7)", forked=True) as inside:
        assert until(lambda: inside.sandbox.ended() == 7)


def test_a_sandbox_whose_monitor_is_killed_counts_as_killed() -> None:
    with Inside("import time; time.sleep(60)", forked=True) as inside:
        processes.end([inside.sandbox.process.pid], 10)
        assert until(lambda: inside.sandbox.ended() == 137)


def test_a_zygote_that_does_not_start_is_the_machines_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_ZYGOTE", python_command("sys.exit('no luck')"))
    broken = Zygote((), PRELOAD_COMPILED, ENVIRONMENT)
    with pytest.raises(MachineError, match="no luck"):
        Sandbox(ENTRY, ENVIRONMENT, memory_bytes=1 << 30, zygote=broken)
    broken.close()


def test_a_zygote_that_is_given_up_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not for its imports, which take seconds, nor for another one."""
    monkeypatch.setattr(module, "_ZYGOTE", python_command("import time; time.sleep(600)"))
    slow = zygote(["/given-up"], **COMPILED)
    found: list[str] = []

    def fork() -> None:
        with pytest.raises(MachineError) as error:
            Sandbox(ENTRY, ENVIRONMENT, memory_bytes=1 << 30, zygote=slow)
        found.append(str(error.value))

    waiting = threading.Thread(target=fork)
    waiting.start()
    waiting.join(0.5)
    monkeypatch.setattr(
        module, "_zygotes", {key: each for key, each in module._zygotes.items() if each is slow}
    )
    module.give_up()
    waiting.join(20)
    assert found
    slow.close()


def test_a_zygote_that_is_killed_is_started_again() -> None:
    path = (str(STAND_IN), *sys.path, "/killed")
    forking = Zygote(path, PRELOAD_COMPILED, ENVIRONMENT)
    killed = forking.pid
    os.kill(killed, signal.SIGKILL)  # with its imports unfinished, and nobody has looked since
    sandbox = Sandbox(ENTRY, ENVIRONMENT, memory_bytes=1 << 32, zygote=forking)
    try:
        assert sandbox.ended() is None
        assert forking.alive
        assert forking.pid != killed
    finally:
        sandbox.close()
        forking.close()


def test_a_zygote_that_is_killed_while_it_is_asked_is_started_again() -> None:
    forking = Zygote((str(STAND_IN), *sys.path, "/asked"), PRELOAD_COMPILED, ENVIRONMENT)
    os.kill(forking.pid, signal.SIGSTOP)
    threading.Timer(0.5, os.kill, (forking.pid, signal.SIGKILL)).start()
    sandboxes: list[Sandbox] = []

    def start() -> None:
        options: Any = {"memory_bytes": 1 << 32, "zygote": forking}
        sandboxes.append(Sandbox(ENTRY, ENVIRONMENT, **options))

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert len({each.process.pid for each in sandboxes}) == 3
    finally:
        for each in sandboxes:
            each.close()
        forking.close()


def test_sandboxes_outlive_their_zygote() -> None:
    """Their monitors then have another parent, and are watched and ended as before."""
    path = [str(STAND_IN), *sys.path]
    code = "import time; time.sleep(0.5); report('alive')\nimport time; time.sleep(60)"
    with Inside(code, forked=True) as inside:
        killed = zygote(path, **COMPILED)
        os.kill(killed.pid, signal.SIGKILL)
        assert until(lambda: not killed.alive)
        assert inside.reported() == "alive"
        assert inside.sandbox.ended() is None
        assert inside.sandbox.memory() > 0
        tree = processes.descendants(inside.sandbox.process.pid)
        assert len(tree) >= 2
    assert until(lambda: all(processes.at_rest(pid) for pid in tree))


@pytest.mark.parametrize(
    ("boot", "why"),
    [
        ("sys.exit(5)", "has ended with exit status 5: it printed nothing"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL, maybe for want of memory"),
        ("print('torch is torn', file=sys.stderr); sys.exit(1)", "status 1: torch is torn"),
    ],
)
def test_a_zygote_that_dies_twice_says_why(
    boot: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ZYGOTE", python_command(boot))
    broken = Zygote((), PRELOAD_COMPILED, ENVIRONMENT)
    with pytest.raises(MachineError, match=why) as caught:
        Sandbox(ENTRY, ENVIRONMENT, memory_bytes=1 << 30, zygote=broken)
    broken.close()
    assert "started again" in str(caught.value)


def test_a_zygote_ends_with_the_judge(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    code = f"""
    import os, sys
    sys.path[:0] = [{str(Path(__file__).parents[2])!r}]
    from harness.sandbox.zygote import Zygote
    kept = Zygote(({mark!r},), {PRELOAD_COMPILED!r}, {{}})
    print(flush=True)
    os.read(0, 1)
    os._exit(1)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as judge:
        assert judge.stdout is not None and judge.stdin is not None
        assert judge.stdout.readline() == b"\n"
        assert until(lambda: len(running(mark)) == 1), (judge.poll(), running(mark))
        judge.stdin.write(b"x")
        judge.stdin.flush()
        judge.wait()
    assert until(lambda: not running(mark)), "it stays"


@pytest.mark.corpus
def test_the_zygote_has_one_thread() -> None:
    """More could not be forked soundly: with the packages that submissions really use."""
    path = [entry for entry in sys.path if Path(entry).is_absolute()]
    forking = zygote(path, preload=PRELOAD_INTERPRETED, environment=ENVIRONMENT)
    sandbox = Sandbox(ENTRY, ENVIRONMENT, memory_bytes=1 << 32, zygote=forking)
    try:  # it was forked, so the imports are over
        assert len(os.listdir(f"/proc/{forking.pid}/task")) == 1
    finally:
        sandbox.close()
