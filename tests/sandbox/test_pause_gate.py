"""A gate that work stands still behind: threads, their processes, and the clock."""

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
from harness.sandbox.command import Finished, clean_environment, run_limited
from harness.sandbox.pause_gate import PauseGate, clock, pausable, side_by_side, waiting

PATIENCE_S = 20.0
COUNT = "import itertools, time\nfor n in itertools.count(): print(n, flush=True); time.sleep(0.01)"


def _run(folder: Path, *argv: str, seconds: float = PATIENCE_S) -> Finished:
    return run_limited(
        argv,
        cwd=folder,
        seconds=seconds,
        memory_bytes=1 << 30,
        output_bytes=1 << 20,
        environment=clean_environment(folder),
    )


def test_who_works_comes_to_an_end_before_the_gate_is_closed_and_nobody_begins() -> None:
    gate, inside, go_on = PauseGate(), threading.Event(), threading.Event()
    working: list[str] = []
    told: list[bool] = []

    def first() -> None:
        with gate.open():
            working.append("first")
            inside.set()
            go_on.wait(PATIENCE_S)
            working.remove("first")

    def second() -> None:
        with gate.open():
            working.append("second")

    def waiting() -> None:
        told.append(True)
        threads.submit(second)
        go_on.set()

    with ThreadPoolExecutor(2) as threads:
        threads.submit(first)
        assert inside.wait(PATIENCE_S)
        with gate.closed(waiting):
            assert told == [True]
            assert working == []
    assert working == ["second"]  # as soon as it was open again


def test_a_gate_that_nobody_is_in_closes_at_once_and_opens_after_an_error() -> None:
    gate = PauseGate()
    with pytest.raises(ValueError, match="no time"), gate.closed(lambda: pytest.fail("who?")):
        raise ValueError("no time")
    with pytest.raises(ValueError, match="no build"), gate.open():
        raise ValueError("no build")
    with gate.closed(), pytest.raises(ZeroDivisionError):
        _ = 1 / 0
    with gate.open():
        pass


def test_who_rests_goes_on_after_the_gate_is_open() -> None:
    gate, rests, woken = PauseGate(), threading.Event(), threading.Event()
    went_on = threading.Event()

    def work() -> None:
        with gate.open():
            with waiting():
                rests.set()
                woken.wait(PATIENCE_S)
            went_on.set()

    with ThreadPoolExecutor(1) as threads:
        threads.submit(work)
        assert rests.wait(PATIENCE_S)
        with gate.closed():
            woken.set()
            assert not went_on.wait(0.2)
        assert went_on.wait(PATIENCE_S)


def test_who_rests_goes_on_while_another_that_works_may_wait_for_it() -> None:
    """As when one thread builds and another, which wants the same, waits for its lock."""
    gate, lock, held = PauseGate(), threading.Lock(), threading.Event()
    shutting, done = threading.Event(), threading.Event()

    def builds() -> None:
        with gate.open(), lock:
            held.set()
            with waiting():
                shutting.wait(PATIENCE_S)

    def waits() -> None:
        held.wait(PATIENCE_S)
        with gate.open():
            held.clear()
            with lock:
                done.set()

    with ThreadPoolExecutor(2) as threads:
        threads.submit(builds)
        threads.submit(waits)
        assert until(lambda: done.is_set() or (lock.locked() and not held.is_set()))
        with gate.closed(shutting.set):
            assert done.is_set()


def test_processes_stand_still_and_no_time_passes_for_them(tmp_path: Path) -> None:
    gate, nap = PauseGate(), Nap()
    command = f"sleep {nap} & {sys.executable} -I -S -c '{COUNT}' {nap}"

    def work() -> Finished:
        with gate.open():
            return _run(tmp_path, "sh", "-c", command, seconds=1.5)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: len(running(str(nap))) >= 2)
        started = time.perf_counter()
        with gate.closed():
            assert all(map(processes.at_rest, running(str(nap))))
            time.sleep(2.0)
            stood = time.perf_counter() - started
            assert not working.done()
            assert all(map(processes.at_rest, running(str(nap))))
        finished = working.result(PATIENCE_S)
    assert finished.timed_out  # but not while it stood
    assert finished.seconds < stood
    assert len(finished.output.split()) > 20
    assert nap.gone()


def test_the_gate_stands_in_nobody_else_s_way(tmp_path: Path) -> None:
    with PauseGate().closed():
        assert _run(tmp_path, "true").ok
        before = clock()
        with waiting(), pausable(1):
            pass
        assert 0 <= clock() - before < PATIENCE_S


def test_what_does_not_stand_still_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.sandbox.pause_gate._STOP_SECONDS", 0.2)
    monkeypatch.setattr(processes, "at_rest", lambda *_, **__: False)
    gate, nap = PauseGate(), Nap()
    below = f"sh -c 'sleep {nap} & wait; echo' & wait"
    shell = subprocess.Popen(["sh", "-c", below], stdout=subprocess.DEVNULL)
    rests, over = threading.Event(), threading.Event()

    def work() -> None:
        with gate.open(), pausable(shell.pid), waiting():
            rests.set()
            over.wait(PATIENCE_S)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(work)
        assert rests.wait(PATIENCE_S)
        assert nap.appeared()
        with gate.closed():
            assert nap.gone() or shell.poll() is not None
        over.set()
    assert shell.wait(PATIENCE_S) in (0, -signal.SIGKILL, 137)


def test_a_sandbox_that_is_only_being_made_stands_still_too(tmp_path: Path) -> None:
    gate, nap = PauseGate(), Nap()

    def work() -> Finished:
        with gate.open():
            return _run(tmp_path, "sh", "-c", f"sleep {nap}; echo", seconds=1.0)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: gate._working > 0)
        with gate.closed():
            assert not working.done()
            time.sleep(1.0)  # longer than it takes to make one
            assert nap.sleeping() == 0 or all(map(processes.at_rest, running(str(nap))))
        assert working.result(PATIENCE_S).timed_out
    assert nap.gone()


def test_who_does_not_stand_still_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
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
        with gate.open(), pausable(shell.pid), waiting():
            rests.release()
            over.wait(PATIENCE_S)

    with ThreadPoolExecutor(2) as threads:
        for shell in shells:
            threads.submit(work, shell)
        assert all(rests.acquire(timeout=PATIENCE_S) for _ in shells)
        assert all(nap.appeared() for nap in naps)
        restless += processes.family(shells[0].pid)
        with gate.closed():
            assert naps[0].gone()
            assert [at_rest(pid) for pid in running(str(naps[1]))][-1:] == [True]
        over.set()
    assert naps[1].sleeping() > 0
    processes.end([shells[1].pid, *processes.family(shells[1].pid)], PATIENCE_S)
    for shell in shells:
        shell.wait(PATIENCE_S)


def test_what_was_stopped_goes_on_where_stopping_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, nap = PauseGate(), Nap()
    stop = processes.stop

    def interrupted(*what: Any, **how: Any) -> tuple[list[int], bool]:
        stop(*what, **how)
        raise KeyboardInterrupt

    def work() -> Finished:
        with gate.open():
            return _run(tmp_path, "sh", "-c", f"sleep 1 {nap}; sleep 0", seconds=PATIENCE_S)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: len(running(str(nap))) > 0)
        monkeypatch.setattr(processes, "stop", interrupted)
        with pytest.raises(KeyboardInterrupt), gate.closed():
            pass
        assert not any(map(processes.at_rest, running(str(nap))))
        processes.end(running(str(nap)), PATIENCE_S)
        assert working.result(PATIENCE_S).ok


def test_the_gate_opens_whatever_comes_of_continuing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    gate, over, rests = PauseGate(), threading.Event(), threading.Event()

    def work() -> None:
        with gate.open(), pausable(1), waiting():
            rests.set()
            over.wait(PATIENCE_S)

    monkeypatch.setattr(processes, "family", lambda _: [0, 0])
    monkeypatch.setattr(processes, "stop", lambda *_: ([], True))
    monkeypatch.setattr(processes, "send", refused)
    with ThreadPoolExecutor(2) as threads:
        working = threads.submit(work)
        assert rests.wait(PATIENCE_S)
        with pytest.raises(PermissionError), gate.closed():
            pass
        over.set()
        working.result(PATIENCE_S)
        with gate.open():
            pass


def test_time_passes_for_who_is_only_waited_for() -> None:
    gate, inside, over = PauseGate(), threading.Event(), threading.Event()

    def work() -> float:
        with gate.open():
            before = clock()
            inside.set()
            over.wait(PATIENCE_S)
            return clock() - before

    def waiting() -> None:
        time.sleep(0.5)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert inside.wait(PATIENCE_S)
        with pytest.raises(KeyboardInterrupt), gate.closed(waiting):
            pass
        over.set()
        assert working.result(PATIENCE_S) >= 0.5


def test_threads_of_who_works_stand_still_and_end_too(tmp_path: Path) -> None:
    gate, naps = PauseGate(), (Nap(), Nap())

    def one(nap: Nap) -> Finished:
        (tmp_path / str(nap)).mkdir()
        return _run(tmp_path / str(nap), "sh", "-c", f"sleep {nap}; echo", seconds=PATIENCE_S)

    def nested(nap: Nap) -> Finished:
        return side_by_side(partial(one, nap))[0]

    def work() -> list[Finished]:
        with gate.open():
            return side_by_side(*(partial(nested, nap) for nap in naps))

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert all(nap.appeared() for nap in naps)
        with gate.closed():
            for nap in naps:
                assert all(map(processes.at_rest, running(str(nap))))
        assert gate._working >= 0
        assert not working.done()
        gate.end()
        with pytest.raises(CancelledError):
            working.result(PATIENCE_S)
    assert all(nap.gone() for nap in naps)
    assert gate._working == 0


def test_side_by_side_needs_no_gate_and_tells_what_went_wrong() -> None:
    assert side_by_side(lambda: 1, lambda: 2) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda: 1, lambda: 1 // 0)


def test_when_it_is_over_processes_end_and_nobody_goes_on_or_begins(tmp_path: Path) -> None:
    gate, nap, enters = PauseGate(), Nap(), threading.Event()

    def work() -> Finished:
        with gate.open():
            return _run(tmp_path, "sh", "-c", f"sleep {nap}; echo", seconds=PATIENCE_S)

    def late() -> None:
        enters.set()
        with gate.open():
            pass

    with ThreadPoolExecutor(2) as threads:
        working = threads.submit(work)
        assert nap.appeared()
        with gate.closed():
            waiting = threads.submit(late)
            assert enters.wait(PATIENCE_S)
            started = time.perf_counter()
            gate.end()
            for each in (working, waiting):
                with pytest.raises(CancelledError):
                    each.result(PATIENCE_S)
    assert time.perf_counter() - started < PATIENCE_S / 2
    assert nap.gone()
    with pytest.raises(CancelledError), gate.open():
        pass


def test_a_sandbox_that_is_only_being_made_when_it_is_over_does_not_last(tmp_path: Path) -> None:
    gate, nap = PauseGate(), Nap()

    def work() -> Finished:
        with gate.open():
            return _run(tmp_path, "sh", "-c", f"sleep {nap}; echo", seconds=PATIENCE_S)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert until(lambda: gate._working > 0)
        gate.end()
        with pytest.raises(CancelledError):
            working.result(PATIENCE_S)
    assert nap.gone()


STANDING = """
import os, sys, threading, time
from pathlib import Path
from harness.sandbox.command import clean_environment, run_limited
from harness.sandbox.pause_gate import Gate

def work():
    with gate.open():
        begun.set()
        run_limited(["sleep", os.environ["NAP"]], cwd=here, seconds=60, memory_bytes=1 << 30,
                    output_bytes=100, environment=clean_environment(here))

gate, begun, here = Gate(), threading.Event(), Path(sys.argv[1])
threading.Thread(target=work, daemon=True).start()
begun.wait()
input()
with gate.closed():
    print("closed", flush=True)
    time.sleep(60)
"""


def test_what_stands_still_ends_with_a_judge_that_is_killed(tmp_path: Path) -> None:
    nap = Nap()
    judge = subprocess.Popen(
        [sys.executable, "-c", STANDING, str(tmp_path)],
        # Not as an argument: the judge's child would have it, too, until it is something else.
        env={**os.environ, "NAP": str(nap)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert judge.stdin is not None
    assert judge.stdout is not None
    assert nap.appeared()
    judge.stdin.write(b"close\n")
    judge.stdin.close()
    assert judge.stdout.readline() == b"closed\n"
    assert [processes.at_rest(pid) for pid in running(str(nap))] == [True]
    judge.kill()
    judge.wait()
    judge.stdout.close()
    assert nap.gone()
