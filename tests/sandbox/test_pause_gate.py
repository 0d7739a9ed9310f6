"""The gate that pauses work: threads, their processes, and the clock."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.naps import Nap, running, until

from harness.sandbox import processes
from harness.sandbox.command import CommandResult, clean_environment, run_limited
from harness.sandbox.pause_gate import PauseGate, clock, pausable, side_by_side, waiting

PATIENCE_S = 20.0
COUNT = """
import itertools, pathlib, sys, time
for n in itertools.count():
    print(n, flush=True)
    pathlib.Path(sys.argv[2]).write_text(str(n))
    time.sleep(0.01)
"""


class Clock:
    """Seconds as the system counts them, and as many more as a test lets pass."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.perf_counter() + self.ahead


def _is_blocked(gate: PauseGate) -> bool:
    """Whether some thread waits for the gate."""
    return len(gate._changed._waiters) > 0  # type: ignore[attr-defined]


def _run(folder: Path, *argv: str, seconds: float = PATIENCE_S) -> CommandResult:
    return run_limited(
        argv,
        cwd=folder,
        seconds=seconds,
        memory_bytes=1 << 30,
        output_bytes=1 << 20,
        environment=clean_environment(folder),
    )


def test_pausing_waits_for_working_threads_and_lets_none_begin() -> None:
    gate, inside, may_end = PauseGate(), threading.Event(), threading.Event()
    working: list[str] = []
    waited: list[bool] = []

    def first() -> None:
        with gate.work():
            working.append("first")
            inside.set()
            may_end.wait(PATIENCE_S)
            working.remove("first")

    def second() -> None:
        with gate.work():
            working.append("second")

    def on_wait() -> None:
        waited.append(True)
        threads.submit(second)
        may_end.set()

    with ThreadPoolExecutor(2) as threads:
        threads.submit(first)
        assert inside.wait(PATIENCE_S)
        with gate.paused(on_wait):
            assert waited == [True]
            assert working == []
    assert working == ["second"]  # as soon as it was open again


def test_an_empty_gate_pauses_at_once_and_lets_work_after_an_error() -> None:
    gate = PauseGate()
    with pytest.raises(ValueError, match="no time"), gate.paused(lambda: pytest.fail("who?")):
        raise ValueError("no time")
    with pytest.raises(ValueError, match="no build"), gate.work():
        raise ValueError("no build")
    with gate.paused(), pytest.raises(ZeroDivisionError):
        _ = 1 / 0
    with gate.work():
        pass


def test_a_waiting_thread_goes_on_after_the_pause() -> None:
    gate, rests, woken = PauseGate(), threading.Event(), threading.Event()
    went_on = threading.Event()

    def work() -> None:
        with gate.work():
            with waiting():
                rests.set()
                woken.wait(PATIENCE_S)
            went_on.set()

    with ThreadPoolExecutor(1) as threads:
        threads.submit(work)
        assert rests.wait(PATIENCE_S)
        with gate.paused():
            woken.set()
            assert until(lambda: _is_blocked(gate))
            assert not went_on.is_set()
        assert went_on.wait(PATIENCE_S)


def test_a_waiting_thread_goes_on_as_long_as_another_works() -> None:
    """The other may need the lock that it holds, as when both want to build the same."""
    gate, lock, held = PauseGate(), threading.Lock(), threading.Event()
    shutting, done = threading.Event(), threading.Event()

    def builds() -> None:
        with gate.work(), lock:
            held.set()
            with waiting():
                shutting.wait(PATIENCE_S)

    def waits() -> None:
        held.wait(PATIENCE_S)
        with gate.work():
            held.clear()
            with lock:
                done.set()

    with ThreadPoolExecutor(2) as threads:
        threads.submit(builds)
        threads.submit(waits)
        assert until(lambda: done.is_set() or (lock.locked() and not held.is_set()))
        with gate.paused(shutting.set):
            assert done.is_set()


def test_processes_are_stopped_and_no_time_passes_for_them(tmp_path: Path) -> None:
    time_s = Clock()
    gate, nap, counted = PauseGate(time_s), Nap(), tmp_path / "count"
    command = f"sleep {nap} & {sys.executable} -I -S -c '{COUNT}' {nap} {counted}"

    def work() -> CommandResult:
        with gate.work():
            return _run(tmp_path, "sh", "-c", command, seconds=100.0)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: len(running(str(nap))) >= 2)
        assert until(lambda: counted.exists() and counted.read_text() != "")
        with gate.paused():
            assert all(map(processes.at_rest, running(str(nap))))
            before = counted.read_text()
            time_s.ahead += 1000.0
            assert not working.done()
            assert all(map(processes.at_rest, running(str(nap))))
            assert counted.read_text() == before
        assert until(lambda: int(counted.read_text() or 0) > int(before or 0) + 20)
        time_s.ahead += 100.0
        finished = working.result(PATIENCE_S)
    assert finished.timed_out  # but not while it was paused
    assert 100.0 <= finished.seconds < 1000.0
    assert len(finished.output.split()) > 20
    assert nap.gone()


def test_a_thread_outside_is_not_paused(tmp_path: Path) -> None:
    with PauseGate().paused():
        assert _run(tmp_path, "true").ok
        before = clock()
        with waiting(), pausable(1):
            pass
        assert 0 <= clock() - before < PATIENCE_S


def test_processes_that_cannot_be_stopped_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.sandbox.pause_gate._STOP_SECONDS", 0.2)
    monkeypatch.setattr(processes, "at_rest", lambda *_, **__: False)
    gate, nap = PauseGate(), Nap()
    below = f"sh -c 'sleep {nap} & wait; echo' & wait"
    shell = subprocess.Popen(["sh", "-c", below], stdout=subprocess.DEVNULL)
    rests, over = threading.Event(), threading.Event()

    def work() -> None:
        with gate.work(), pausable(shell.pid), waiting():
            rests.set()
            over.wait(PATIENCE_S)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(work)
        assert rests.wait(PATIENCE_S)
        assert nap.appeared()
        with gate.paused():
            assert nap.gone() or shell.poll() is not None
        over.set()
    assert shell.wait(PATIENCE_S) in (0, -signal.SIGKILL, 137)


def test_a_sandbox_that_is_being_made_is_paused_too(tmp_path: Path) -> None:
    time_s = Clock()
    gate, nap = PauseGate(time_s), Nap()

    def work() -> CommandResult:
        with gate.work():
            return _run(tmp_path, "sh", "-c", f"sleep {nap}; echo", seconds=100.0)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: gate._working > 0)
        with gate.paused():
            assert not working.done()
            (monitor,) = gate._monitors
            init, *submitted = processes.family(monitor)
            assert submitted, "it is made, and starts nothing later"
            assert not processes.at_rest(init)
            assert all(processes.at_rest(pid, waiting=True) for pid in submitted)
            assert nap.sleeping() == 0 or all(map(processes.at_rest, running(str(nap))))
        time_s.ahead += 100.0
        assert working.result(PATIENCE_S).timed_out
    assert nap.gone()


def test_a_sandbox_that_cannot_be_stopped_is_ended_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    restless: list[int] = []
    at_rest = processes.at_rest
    monkeypatch.setattr("harness.sandbox.pause_gate._STOP_SECONDS", 0.2)
    monkeypatch.setattr(
        processes, "at_rest", lambda pid, **how: pid not in restless and at_rest(pid, **how)
    )
    gate, naps = PauseGate(), (Nap(), Nap())
    commands = [["sh", "-c", f"sh -c 'sleep {nap} & wait; echo' & wait"] for nap in naps]
    shells = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    rests, over = threading.Semaphore(0), threading.Event()

    def work(shell: subprocess.Popen[bytes]) -> None:
        with gate.work(), pausable(shell.pid), waiting():
            rests.release()
            over.wait(PATIENCE_S)

    with ThreadPoolExecutor(2) as threads:
        for shell in shells:
            threads.submit(work, shell)
        assert all(rests.acquire(timeout=PATIENCE_S) for _ in shells)
        assert all(nap.appeared() for nap in naps)
        restless += processes.family(shells[0].pid)
        with gate.paused():
            assert naps[0].gone()
            assert [at_rest(pid) for pid in running(str(naps[1]))][-1:] == [True]
        over.set()
    assert naps[1].sleeping() > 0
    processes.end([shells[1].pid, *processes.family(shells[1].pid)], PATIENCE_S)
    for shell in shells:
        shell.wait(PATIENCE_S)


def test_stopped_processes_go_on_where_stopping_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, nap = PauseGate(), Nap()
    stop = processes.stop

    def interrupted(*what: Any, **how: Any) -> tuple[list[int], bool]:
        stop(*what, **how)
        raise KeyboardInterrupt

    def work() -> CommandResult:
        with gate.work():
            return _run(tmp_path, "sh", "-c", f"sleep 1 {nap}; sleep 0", seconds=PATIENCE_S)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: len(running(str(nap))) > 0)
        monkeypatch.setattr(processes, "stop", interrupted)
        with pytest.raises(KeyboardInterrupt), gate.paused():
            pass
        assert not any(map(processes.at_rest, running(str(nap))))
        processes.end(running(str(nap)), PATIENCE_S)
        assert working.result(PATIENCE_S).ok


def test_the_pause_ends_though_continuing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    gate, over, rests = PauseGate(), threading.Event(), threading.Event()

    def work() -> None:
        with gate.work(), pausable(1), waiting():
            rests.set()
            over.wait(PATIENCE_S)

    monkeypatch.setattr(processes, "family", lambda _: [0, 0])
    monkeypatch.setattr(processes, "stop", lambda *_: ([], True))
    monkeypatch.setattr(processes, "send", refused)
    with ThreadPoolExecutor(2) as threads:
        working = threads.submit(work)
        assert rests.wait(PATIENCE_S)
        with pytest.raises(PermissionError), gate.paused():
            pass
        over.set()
        working.result(PATIENCE_S)
        with gate.work():
            pass


def test_time_passes_while_the_pause_only_waits_for_a_thread() -> None:
    time_s = Clock()
    gate, inside, over = PauseGate(time_s), threading.Event(), threading.Event()

    def work() -> float:
        with gate.work():
            before = clock()
            inside.set()
            over.wait(PATIENCE_S)
            return clock() - before

    def on_wait() -> None:
        time_s.ahead += 0.5
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert inside.wait(PATIENCE_S)
        with pytest.raises(KeyboardInterrupt), gate.paused(on_wait):
            pass
        over.set()
        assert working.result(PATIENCE_S) >= 0.5


def test_threads_started_inside_are_paused_and_cancelled_too(tmp_path: Path) -> None:
    gate, naps = PauseGate(), (Nap(), Nap())

    def one(nap: Nap) -> CommandResult:
        (tmp_path / str(nap)).mkdir()
        return _run(tmp_path / str(nap), "sh", "-c", f"sleep {nap}; echo", seconds=PATIENCE_S)

    def nested(nap: Nap) -> CommandResult:
        return side_by_side(partial(one, nap))[0]

    def work() -> list[CommandResult]:
        with gate.work():
            return side_by_side(*(partial(nested, nap) for nap in naps))

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert all(nap.appeared() for nap in naps)
        with gate.paused():
            for nap in naps:
                assert all(map(processes.at_rest, running(str(nap))))
        assert gate._working >= 0
        assert not working.done()
        gate.cancel()
        with pytest.raises(CancelledError):
            working.result(PATIENCE_S)
    assert all(nap.gone() for nap in naps)
    assert gate._working == 0


def test_side_by_side_needs_no_gate_and_raises_what_a_thread_raised() -> None:
    assert side_by_side(lambda: 1, lambda: 2) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda: 1, lambda: 1 // 0)


def test_cancelling_ends_processes_and_lets_nobody_go_on_or_begin(tmp_path: Path) -> None:
    gate, nap, enters = PauseGate(), Nap(), threading.Event()

    def work() -> CommandResult:
        with gate.work():
            return _run(tmp_path, "sh", "-c", f"sleep {nap}; echo", seconds=PATIENCE_S)

    def late() -> None:
        enters.set()
        with gate.work():
            pass

    with ThreadPoolExecutor(2) as threads:
        working = threads.submit(work)
        assert nap.appeared()
        with gate.paused():
            waiting = threads.submit(late)
            assert enters.wait(PATIENCE_S)
            started = time.perf_counter()
            gate.cancel()
            for each in (working, waiting):
                with pytest.raises(CancelledError):
                    each.result(PATIENCE_S)
    assert time.perf_counter() - started < PATIENCE_S / 2
    assert nap.gone()
    with pytest.raises(CancelledError), gate.work():
        pass


def test_a_sandbox_that_is_being_made_ends_when_cancelled(tmp_path: Path) -> None:
    gate, nap = PauseGate(), Nap()

    def work() -> CommandResult:
        with gate.work():
            return _run(tmp_path, "sh", "-c", f"sleep {nap}; echo", seconds=PATIENCE_S)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: gate._working > 0)
        gate.cancel()
        with pytest.raises(CancelledError):
            working.result(PATIENCE_S)
    assert nap.gone()


PAUSED = """
import os, sys, threading, time
from pathlib import Path
from harness.sandbox.command import clean_environment, run_limited
from harness.sandbox.pause_gate import PauseGate

def work():
    with gate.work():
        begun.set()
        run_limited(["sleep", os.environ["NAP"]], cwd=here, seconds=60, memory_bytes=1 << 30,
                    output_bytes=100, environment=clean_environment(here))

gate, begun, here = PauseGate(), threading.Event(), Path(sys.argv[1])
threading.Thread(target=work, daemon=True).start()
begun.wait()
input()
with gate.paused():
    print("paused", flush=True)
    time.sleep(60)
"""


def test_paused_processes_end_with_a_judge_that_is_killed(tmp_path: Path) -> None:
    nap = Nap()
    judge = subprocess.Popen(
        [sys.executable, "-c", PAUSED, str(tmp_path)],
        # Not as an argument: the judge's child would have it, too, until it is something else.
        env={**os.environ, "NAP": str(nap)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert judge.stdin is not None
    assert judge.stdout is not None
    assert nap.appeared()
    judge.stdin.write(b"pause\n")
    judge.stdin.close()
    assert judge.stdout.readline() == b"paused\n"
    assert [processes.at_rest(pid) for pid in running(str(nap))] == [True]
    judge.kill()
    judge.wait()
    judge.stdout.close()
    assert nap.gone()
