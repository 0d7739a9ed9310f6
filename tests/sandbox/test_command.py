import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.naps import Nap

from harness.errors import MachineError
from harness.sandbox import host_memory
from harness.sandbox.command import CommandResult, clean_environment, run_limited
from harness.sandbox.pause_gate import PauseGate, side_by_side
from harness.sandbox.support import detect_support


def run(folder: Path, *argv: str, **changes: Any) -> CommandResult:
    limits: dict[str, Any] = {
        "cwd": folder,
        "seconds": 10.0,
        "memory_bytes": 1 << 30,
        "output_bytes": 10_000,
        "environment": clean_environment(folder),
    }
    return run_limited(argv, **limits | changes)


def python(folder: Path, code: str, **changes: Any) -> CommandResult:
    return run(folder, sys.executable, "-I", "-S", "-c", code, **changes)


def test_output_and_status(tmp_path: Path) -> None:
    finished = run(tmp_path, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (finished.output, finished.returncode, finished.ok) == ("out\nerr\n", 3, False)
    assert run(tmp_path, "true").ok


def test_stdin_is_given_or_empty(tmp_path: Path) -> None:
    assert run(tmp_path, "cat", stdin=b"x" * 5000).output == "x" * 5000
    assert run(tmp_path, "cat").output == ""


def test_a_signal_is_reported(tmp_path: Path) -> None:
    assert python(tmp_path, "import ctypes; ctypes.string_at(0)").returncode == -11


def test_nothing_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    read, write = os.pipe()
    os.set_inheritable(read, True)
    finished = run(tmp_path, "sh", "-c", "env; echo; ls /proc/self/fd; pwd")
    os.close(read)
    os.close(write)
    environment, _, rest = finished.output.partition("\n\n")
    names = {line.partition("=")[0] for line in environment.splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LC_ALL", "PWD", "SHLVL", "_", "OLDPWD"}
    assert rest.split() == ["0", "1", "2", "3", str(tmp_path)]  # 3 is what ls reads


def test_a_time_limit_ends_the_whole_tree(tmp_path: Path) -> None:
    nap = Nap()
    code = f"sleep {nap} & setsid sleep {nap} & wait"
    started = time.monotonic()
    with nap.seen(2):
        finished = run(tmp_path, "sh", "-c", code, seconds=3)
    assert finished.timed_out
    assert time.monotonic() - started < 40
    assert nap.gone()


def test_processes_left_by_a_command_are_ended(tmp_path: Path) -> None:
    nap = Nap()
    with nap.seen(1):
        finished = run(tmp_path, "sh", "-c", f"sleep {nap} & sleep 0.3; echo done")
    assert finished.ok
    assert finished.output == "done\n"
    assert finished.seconds < 40
    assert nap.gone()


def test_the_end_is_seen_though_the_output_was_closed(tmp_path: Path) -> None:
    finished = run(tmp_path, "sh", "-c", "exec >&- 2>&-; sleep 0.3; exit 4")
    assert finished.returncode == 4


def test_a_flood_of_output_is_cut(tmp_path: Path) -> None:
    finished = run(tmp_path, "sh", "-c", "yes | head -c 100000000")
    assert finished.ok
    assert finished.truncated
    assert finished.output == "y\n" * 5000


@pytest.mark.corpus
def test_an_endless_flood_ends(tmp_path: Path) -> None:
    finished = run(tmp_path, "yes", seconds=2)
    assert finished.timed_out
    assert finished.truncated


def test_memory_is_limited_over_the_whole_tree(tmp_path: Path) -> None:
    code = "import os, time; n = os.fork(); x = bytearray(150 << 20); time.sleep(30)"
    finished = python(tmp_path, code, memory_bytes=200 << 20)
    assert finished.over_memory
    assert finished.peak_bytes > 200 << 20


def test_memory_asked_for_at_once_is_refused(tmp_path: Path) -> None:
    finished = python(tmp_path, "bytearray(4 << 30)", memory_bytes=200 << 20)
    assert "MemoryError" in finished.output


def test_the_limit_is_lower_where_the_machine_has_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 700 << 20)
    monkeypatch.setattr(host_memory, "reserve_bytes", lambda: 100 << 20)
    code = "x = bytearray(200 << 20); print('little', flush=True); bytearray(500 << 20)"
    finished = python(tmp_path, code, memory_bytes=8 << 30)
    assert finished.memory_bytes == 600 << 20
    assert finished.output.startswith("little")
    assert "MemoryError" in finished.output
    gate, asked = PauseGate(builders=2), 8 << 30
    with gate.work():
        assert python(tmp_path, "", memory_bytes=asked).memory_bytes == 300 << 20
        (beside,) = side_by_side(lambda: python(tmp_path, "", memory_bytes=asked))
        assert beside.memory_bytes == 300 << 20


def test_who_holds_more_than_a_guaranteed_part_is_stopped_when_the_machine_runs_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_memory, "build_share", lambda most, builders: most)
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 10 << 20)
    monkeypatch.setattr(host_memory, "reserve_bytes", lambda: 100 << 20)
    code = "import time; x = bytearray({} << 20); time.sleep(0.5); print('done')"
    small = python(tmp_path, code.format(10), memory_bytes=400 << 20)
    assert small.output == "done\n"
    large = python(tmp_path, code.format(150), memory_bytes=400 << 20)
    assert large.over_memory
    assert large.output == ""


@pytest.mark.parametrize(
    ("held", "oom_kills", "near"), [(350, 0, True), (150, 0, False), (150, 1, True), (10, 1, False)]
)
def test_a_command_that_is_killed_near_its_limit_is_told_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int, oom_kills: int, near: bool
) -> None:
    counts = iter([7])
    monkeypatch.setattr(host_memory, "oom_kills", lambda: next(counts, 7 + oom_kills))
    code = f"import os, signal; x = bytearray({held} << 20); os.kill(os.getpid(), signal.SIGKILL)"
    finished = python(tmp_path, code, memory_bytes=400 << 20)
    assert finished.returncode == -9
    assert finished.peak_bytes >= held << 20  # though nobody had the time to look
    assert finished.near_memory_limit is near


@pytest.mark.skipif(not detect_support().namespaces, reason="no namespaces here")
def test_a_command_sees_no_device_without_end(tmp_path: Path) -> None:
    finished = run(tmp_path, "sh", "-c", "ls /dev /sys; cat /dev/null; echo x > /dev/null")
    words = set(finished.output.split())
    assert {"null", "fd", "stdin"} < words
    assert words.isdisjoint({"zero", "full", "random", "urandom", "devices", "kernel"})
    assert not [word for word in words if word.startswith("nvidia")]


def test_a_command_is_the_first_that_the_kernel_ends(tmp_path: Path) -> None:
    finished = run(tmp_path, "cat", "/proc/self/oom_score_adj")
    assert finished.output == "1000\n"


def test_files_are_limited(tmp_path: Path) -> None:
    run(tmp_path, "sh", "-c", "yes > big", file_bytes=100_000)
    assert (tmp_path / "big").stat().st_size == 100_000


@pytest.mark.skipif(not detect_support().namespaces, reason="no namespaces here")
def test_it_sees_neither_network_nor_other_processes(tmp_path: Path) -> None:
    finished = run(tmp_path, "sh", "-c", "ls -d /proc/[0-9]* | wc -l; tail -n +3 /proc/net/dev")
    processes, *interfaces = finished.output.splitlines()
    assert int(processes) <= 5
    assert [line.split(":")[0].strip() for line in interfaces] in ([], ["lo"])


def test_a_missing_command_is_reported(tmp_path: Path) -> None:
    finished = run(tmp_path, "/no/such/program")
    assert finished.returncode == 127
    with pytest.raises(MachineError):
        run(tmp_path / "nowhere", "true")


def test_a_command_ends_with_the_judge(tmp_path: Path) -> None:
    nap = Nap()
    code = (
        "from pathlib import Path\n"
        "from harness.sandbox.command import run_limited\n"
        f"run_limited(['sleep', '{nap}'], cwd=Path({str(tmp_path)!r}), seconds=60,"
        " memory_bytes=1 << 30,"
        " output_bytes=10, environment={'PATH': '/bin'})"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        assert nap.appeared(), "the command does not start"
        parent.kill()
    assert nap.gone()
