"""The monitor: that nothing outlives it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MONITOR_IS_KILLED_JUST_BEFORE = """
import os, select, signal, sys
from harness.sandbox import monitor, system
from harness.sandbox.spec import SandboxSpec

system.prctl(system.PR_SET_CHILD_SUBREAPER, 1, "subreaper")
life, judge_end = os.pipe()
killed = os.fork()
if killed == 0:
    ours = os.getpid()
    handle = os.pidfd_open(ours)
    prctl = system.prctl

    def late(option, *rest):
        if option == system.PR_SET_PDEATHSIG:
            os.kill(ours, signal.SIGKILL)
            select.select([handle], [], [])
        prctl(option, *rest)

    system.prctl = late
    command = (sys.executable, "-c", "open('ran', 'w')")
    spec = SandboxSpec(folder=sys.argv[1], command=command, namespaces=False, own_user=False)
    os._exit(monitor.run_and_wait(spec, None, life))
ended = dict(os.wait() for _ in range(2))
assert ended.pop(killed) == signal.SIGKILL, ended
assert [*ended.values()] == [0], ended
"""


def test_an_init_whose_monitor_is_gone_already_starts_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MONITOR_IS_KILLED_JUST_BEFORE, str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
