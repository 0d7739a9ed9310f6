"""A processor is kept awake while it is asked for, by a process that is in nobody's way."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from support.naps import until

from harness.device.awake import KeptAwake
from harness.sandbox.processes import descendants

HOLDER = """
import sys
from harness.device.awake import KeptAwake
kept = KeptAwake(int(sys.argv[1]))
with kept.awake():
    print("awake", flush=True)
    sys.stdin.read()
"""


def command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def computes(pid: int) -> bool:
    """Whether it would take its processor, as a process of the lowest policy."""
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return os.sched_getscheduler(pid) == os.SCHED_IDLE and state == "R"


def test_a_process_of_the_lowest_policy_computes_while_it_is_asked_for() -> None:
    cpu = max(os.sched_getaffinity(0))
    with closing(KeptAwake(cpu)) as kept:
        with kept.awake():
            pid = process_of(kept)
            assert until(lambda: computes(pid))
            assert os.sched_getaffinity(pid) == {cpu}
        assert until(lambda: not computes(pid))
        with kept.awake():
            assert process_of(kept) == pid
            assert until(lambda: computes(pid))
    assert not Path(f"/proc/{pid}").exists()


def process_of(kept: KeptAwake) -> int:
    assert kept._process is not None
    return kept._process.pid


def test_where_it_may_not_times_are_taken_all_the_same() -> None:
    with closing(KeptAwake(100_000)) as kept:
        for _ in range(2):
            with kept.awake():
                os.waitid(os.P_PID, process_of(kept), _ENDED)


_ENDED = os.WEXITED | os.WNOWAIT


def test_it_ends_with_a_judge_that_is_killed() -> None:
    cpu = max(os.sched_getaffinity(0))
    judge = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(cpu)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert judge.stdout is not None
    assert judge.stdout.readline() == b"awake\n"
    (pid,) = descendants(judge.pid)
    judge.send_signal(signal.SIGKILL)
    judge.communicate()
    assert until(lambda: not Path(f"/proc/{pid}").exists() or b"SCHED_IDLE" not in command(pid))
