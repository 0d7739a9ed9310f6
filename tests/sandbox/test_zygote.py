"""The zygote from which sandboxes are forked: quick, clean, and gone with the judge."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

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
    assert zygote(path, **COMPILED) is not first


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


def test_the_zygote_has_one_thread() -> None:
    """More could not be forked soundly: with the packages that submissions really use."""
    path = [entry for entry in sys.path if Path(entry).is_absolute()]
    forking = zygote(path, preload=PRELOAD_INTERPRETED, environment=ENVIRONMENT)
    sandbox = Sandbox(ENTRY, ENVIRONMENT, memory_bytes=1 << 32, zygote=forking)
    try:  # it was forked, so the imports are over
        assert len(os.listdir(f"/proc/{forking.pid}/task")) == 1
    finally:
        sandbox.close()
