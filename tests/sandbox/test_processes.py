import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.naps import Nap, running, until

from harness.sandbox import processes


@pytest.fixture
def family() -> Iterator[tuple[subprocess.Popen[bytes], Nap]]:
    """A shell and two that sleep below it."""
    nap = Nap()
    shell = subprocess.Popen(["sh", "-c", f"sleep {nap} & sleep {nap} & wait"])
    assert until(lambda: nap.sleeping() == 3 or len(_sleepers(nap)) == 2)
    yield shell, nap
    processes.end([shell.pid, *_sleepers(nap)], 5)
    shell.wait()


def _sleepers(nap: Nap) -> list[int]:
    return [pid for pid in running(str(nap)) if pid in running("sleep")]


def test_descendants_are_all_processes_below(family: tuple[subprocess.Popen[bytes], Nap]) -> None:
    shell, nap = family
    assert sorted(processes.descendants(shell.pid)) == sorted(_sleepers(nap))
    ours = processes.descendants(os.getpid())
    assert ours.index(shell.pid) < min(ours.index(pid) for pid in _sleepers(nap))
    assert processes.descendants(_sleepers(nap)[0]) == []


def test_family_finds_all_descendants(
    family: tuple[subprocess.Popen[bytes], Nap], monkeypatch: pytest.MonkeyPatch
) -> None:
    shell, nap = family
    assert sorted(processes.family(shell.pid)) == sorted(_sleepers(nap))
    assert processes.family(2**22 + 1) == []
    assert shell.pid in processes.family(os.getpid())
    monkeypatch.setattr(processes, "_LISTS_CHILDREN", False)
    assert sorted(processes.family(shell.pid)) == sorted(_sleepers(nap))


def test_stop_returns_the_processes_it_stopped(family: tuple[subprocess.Popen[bytes], Nap]) -> None:
    shell, nap = family
    first, *others = _sleepers(nap)
    processes.send([first], signal.SIGSTOP)
    assert until(lambda: processes.at_rest(first))
    assert processes.stop(lambda: processes.family(shell.pid), 5.0) == (others, True)
    assert all(map(processes.at_rest, [first, *others]))
    assert processes.stop(list, 5.0) == ([], True)


VFORK = """
#include <unistd.h>

int main(void) {
    if (vfork() == 0) {
        sleep(61);
        _exit(0);
    }
}
"""


def test_stop_succeeds_while_a_parent_waits_in_vfork(tmp_path: Path) -> None:
    """It waits for that in the kernel, where no signal reaches it; compilers start others so."""
    (tmp_path / "vfork.c").write_text(VFORK)
    subprocess.run(["cc", "-o", "waits", "vfork.c"], cwd=tmp_path, check=True)
    parent = subprocess.Popen([tmp_path / "waits"])
    try:
        assert until(lambda: len(processes.family(parent.pid)) == 1)
        both = [parent.pid, *processes.family(parent.pid)]
        assert processes.stop(lambda: both, 0.3)[1] is False
        processes.send(both, signal.SIGCONT)
        assert until(lambda: not processes.at_rest(both[1]))
        assert processes.stop(lambda: both, 20.0, waiting=True) == (both, True)
        assert processes.at_rest(both[1])
    finally:
        processes.end([parent.pid, *processes.family(parent.pid)], 5.0)
        parent.wait()


def test_in_session_finds_processes_of_a_session() -> None:
    assert os.getpid() in processes.in_session(os.getsid(0))
    assert processes.in_session(2**22 + 1) == []


def test_stopped_processes_are_continued(family: tuple[subprocess.Popen[bytes], Nap]) -> None:
    _, nap = family
    pids = _sleepers(nap)
    assert not any(map(processes.at_rest, pids))
    processes.send(pids, signal.SIGSTOP)
    assert until(lambda: all(map(processes.at_rest, pids)))
    processes.send(pids, signal.SIGCONT)
    assert until(lambda: not any(map(processes.at_rest, pids)))


def test_end_kills_and_waits(family: tuple[subprocess.Popen[bytes], Nap]) -> None:
    shell, nap = family
    tree = [shell.pid, *_sleepers(nap)]
    started = time.monotonic()
    assert processes.end(tree, 60) == []
    assert time.monotonic() - started < 50  # it waits for them, not for its limit
    assert nap.gone()


def test_processes_that_are_gone_are_ignored() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        process.wait()
        gone = process.pid
    processes.send([gone], signal.SIGSTOP)
    assert processes.at_rest(gone)
    assert processes.end([gone], 1) == []
    assert processes.resident_bytes([gone]) == 0


def test_end_returns_processes_that_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "send", lambda *_: None)
    with subprocess.Popen(["sleep", "60"]) as process:
        assert processes.end([process.pid], 0.05) == [process.pid]
        process.kill()


def test_resident_memory() -> None:
    hold = "import time; x = bytearray(50 << 20); x[::4096] = b'1' * len(x[::4096]); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-S", "-c", hold]) as process:
        assert until(lambda: processes.resident_bytes([process.pid]) > 50 << 20)
        assert processes.resident_bytes([process.pid]) < 100 << 20
        process.kill()


def test_a_name_with_brackets_is_read_right() -> None:
    rename = "open('/proc/self/comm', 'w').write('a) Z 1 (b'); import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-S", "-c", rename]) as process:
        comm = Path(f"/proc/{process.pid}/comm")
        assert until(lambda: comm.read_text() == "a) Z 1 (b\n")
        assert not processes.at_rest(process.pid)
        assert process.pid in processes.descendants(os.getpid())
        process.kill()


def test_what_sleeps_does_not_compute(family: tuple[subprocess.Popen[bytes], Nap]) -> None:
    shell, nap = family
    assert until(lambda: not processes.computes([shell.pid, *_sleepers(nap)]))
    assert not processes.computes([])


@pytest.mark.parametrize("threads", [0, 1])
def test_a_thread_that_runs_computes(threads: int) -> None:
    """Of a process with any name, beside one that sleeps."""
    source = (
        "import ctypes, threading, time\n"
        "ctypes.CDLL(None).prctl(15, bytes((255, 41, 32, 83)), 0, 0, 0)\n"
        "def spin():\n    while True: pass\n"
        f"if {threads}: threading.Thread(target=spin, daemon=True).start(); time.sleep(600)\n"
        "spin()\n"
    )
    with subprocess.Popen([sys.executable, "-c", source]) as process:
        try:
            time.sleep(0.5)
            assert until(lambda: processes.computes([process.pid]))
        finally:
            process.kill()


def test_processor_time_counts_children_that_have_ended() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}]); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as parent:
        try:
            assert until(lambda: processes.processor_seconds([parent.pid]) >= 0.3)
            assert until(lambda: not processes.computes([parent.pid]))
            before = processes.processor_seconds([parent.pid])
            time.sleep(0.1)
            assert processes.processor_seconds([parent.pid]) == before  # asleep
        finally:
            parent.kill()
    assert processes.processor_seconds([parent.pid]) == 0
