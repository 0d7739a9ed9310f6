"""Hostile runners: each ends in the verdict it must get, soon, and the judge goes on unharmed.

The submissions are Python, on a stand-in for torch, so that a runner starts in 0.1 s.
"""

import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support.leftovers import left, zygote_processes

from harness.device.cpu import HostArena
from harness.errors import MachineError
from harness.judge.batch import Batch
from harness.judge.cases import CasesOutcome, run_cases
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.sandbox import launch, processes, support
from harness.session import session as module
from harness.session import start_runner as runners
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram, source_program
from harness.session.runs import RunOptions
from harness.session.session import Session
from harness.wire import messages
from harness.wire.messages import FaultCode
from harness.wire.transport import MAX_MESSAGE

pytestmark = pytest.mark.usefixtures("stand_in_for_torch")

HONEST = """
def solution(x, s, y, n):
    for i in range(n):
        y[i] = x[i] + s
"""

# What hostile code needs: the judge's socket, the shared pages.
TOOLS = '''
import ctypes, json, mmap, os, signal, socket, stat, struct, sys, threading, time

def honest(x, s, y, n):
    for i in range(n):
        y[i] = x[i] + s

def channel():
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                return socket.socket(fileno=os.dup(fd))
        except OSError:
            pass

def shared_pages():
    """Every writable shared mapping: (name, start, size)."""
    for line in open("/proc/self/maps"):
        where, rights, _, _, _, *name = line.split()
        if rights.startswith("rw-s"):
            start, end = (int(part, 16) for part in where.split("-"))
            yield " ".join(name), start, end - start

def forge_done():
    for name, start, size in shared_pages():
        if "mailbox" in name:
            words = (ctypes.c_uint64 * (size // 8)).from_address(start)
            for round in range(1, 100):
                words[8] = words[0] + 0 if words[0] else round
'''


@dataclass(frozen=True)
class Judged:
    """What a submission got, what it printed, how long it took."""

    outcome: CasesOutcome
    output: str
    seconds: float

    @property
    def verdict(self) -> Verdict:
        return self.outcome.fault.verdict if self.outcome.fault else Verdict.ACCEPTED

    @property
    def message(self) -> str:
        return self.outcome.fault.message if self.outcome.fault else ""


CASES = [
    Case(sizes={"n": n}, scalars={"s": s}) for n, s in ((1, 0.0), (3, 0.5), (17, -1.5), (64, 2.0))
]


def limited(task: Task, **limits: Any) -> Task:
    problem = task.problem
    return replace(task, problem=replace(problem, limits=replace(problem.limits, **limits)))


def judge(task: Task, source: str, **limits: Any) -> Judged:
    started = time.monotonic()
    task = limited(task, **limits)
    program = source_program(textwrap.dedent(source).encode())
    with Session(program, task.device, task.problem.limits) as session:
        fault = session.load()
        outcome = CasesOutcome((), fault) if fault else run_cases(session, task, CASES, _nothing)
    return Judged(outcome, session.output(), time.monotonic() - started)


def _nothing() -> None:
    pass


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process, no descriptor, no folder of a runner outlives its session."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    files = len(os.listdir("/proc/self/fd"))
    before = set(processes.descendants(os.getpid()))  # other fixtures' processes
    yield
    assert left(before) == set()
    kept = set(zygote_processes())
    assert list(tmp_path.glob("harness-*/sandbox-*")) == []
    files += 2 * len(kept - before)  # a zygote's channel and what it prints
    assert len(os.listdir("/proc/self/fd")) <= files + 2  # threads that read output close late


def test_an_honest_submission_is_accepted(shift_task: Task) -> None:
    judged = judge(shift_task, HONEST)
    assert judged.verdict is Verdict.ACCEPTED
    assert [case.passed for case in judged.outcome.cases] == [True] * len(CASES)
    assert all(case.seconds and case.seconds > 0 for case in judged.outcome.cases)


def _hostile(name: str, verdict: Verdict, words: str, source: str, *, slow: bool = False) -> Any:
    marks = [pytest.mark.corpus] if slow else []
    return pytest.param(verdict, words, TOOLS + textwrap.dedent(source), id=name, marks=marks)


RUNTIME, WRONG, LATE = Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT


@pytest.mark.parametrize(
    ("verdict", "words", "source"),
    [
        _hostile(
            "exits on import", RUNTIME, "SystemExit: 0",
            "def solution(*_): ...\nsys.exit(0)",
        ),
        _hostile("exits", RUNTIME, "SystemExit: 0", "def solution(*_): sys.exit(0)"),
        _hostile(
            "ends its process on import", RUNTIME, "exit status 0", "os._exit(0)",
        ),
        _hostile(
            "ends its process", RUNTIME, "exit status 0",
            "def solution(*a):\n  honest(*a)\n  os._exit(0)",
        ),
        _hostile(
            "ends at exit", RUNTIME, "KeyboardInterrupt",
            "import atexit\natexit.register(os._exit, 0)\n"
            "def solution(*_): raise KeyboardInterrupt",
        ),
        _hostile(
            "kills itself", RUNTIME, "SIGKILL",
            "def solution(*_): os.kill(os.getpid(), signal.SIGKILL)",
        ),
        _hostile("aborts", RUNTIME, "SIGABRT", "def solution(*_): os.abort()"),
        _hostile("crashes", RUNTIME, "SIGSEGV", "def solution(*_): ctypes.string_at(0)"),
        _hostile("never returns", LATE, "finish within", "def solution(*_):\n  while True: pass"),
        _hostile(
            "never returns while the lock is held", LATE, "did not finish within",
            "def solution(*_): ctypes.PyDLL(None).pause()", slow=True,
        ),
        _hostile(
            "stops itself", LATE, "did not finish within",
            "def solution(*_): os.kill(os.getpid(), signal.SIGSTOP)", slow=True,
        ),
        _hostile(
            "closes everything", RUNTIME, "exit status 0",
            "def solution(*a):\n  honest(*a)\n  os.closerange(0, 1024)",
        ),
        _hostile(
            "closes the channel", RUNTIME, "",
            "def solution(*a):\n  honest(*a)\n  channel().shutdown(socket.SHUT_RDWR)",
        ),
        _hostile(
            "unmaps the mailbox", RUNTIME, "SIGSEGV",
            """
            def solution(*a):
                for name, start, size in list(shared_pages()):
                    if "mailbox" in name:
                        ctypes.CDLL(None).munmap(ctypes.c_void_p(start), ctypes.c_size_t(size))
            """,
        ),
        _hostile(
            "raises", RUNTIME, "ValueError: no luck\nsolution.py:",
            "def solution(*_): raise ValueError('no luck')",
        ),
        _hostile(
            "raises much odd text", RUNTIME, "\U0001f600",
            "def solution(*_): raise ValueError('\\U0001f600\\x1b[31m\\ud800' * 100_000)",
        ),
        _hostile(
            "raises what cannot be shown", RUNTIME, "",
            """
            class Bad(BaseException):
                def __str__(self): raise Bad
                __repr__ = __str__
            def solution(*_): raise Bad
            """,
        ),
        _hostile(
            "raises for ever", RUNTIME, "RecursionError",
            "def solution(*a): solution(*a)",
        ),
        _hostile(
            "writes nothing", WRONG, "1 of 1 elements of y are wrong", "def solution(*_): ...",
        ),
        _hostile(
            "changes an input", WRONG, "const input x was changed (element 0)",
            "def solution(x, s, y, n):\n  honest(x, s, y, n)\n  x[0] += 1",
        ),
        _hostile(
            "says done before it is", WRONG, "elements of y are wrong",
            """
            def solution(x, s, y, n):
                channel().send(json.dumps({"type": "finished"}).encode())
                forge_done()
                time.sleep(0.3)
                honest(x, s, y, n)
            """,
        ),
        _hostile(
            "writes into all that is shared", WRONG, "elements of y are wrong",
            """
            def solution(x, s, y, n):
                channel().send(json.dumps({"type": "finished"}).encode())
                for name, start, size in list(shared_pages()):
                    go = ctypes.c_uint64.from_address(start).value
                    if "mailbox" in name:
                        ctypes.memmove(start, struct.pack("Q", go) * (size // 8), size)
                    else:
                        ctypes.memset(start, 0, size)
            """,
        ),
        _hostile(
            "truncates the arena", WRONG, "elements of y are wrong",
            """
            def solution(x, s, y, n):
                for fd in map(int, os.listdir("/proc/self/fd")):
                    for action in (lambda: os.ftruncate(fd, 0),
                                   lambda: os.ftruncate(fd, 1 << 30)):
                        try:
                            action()
                        except OSError:
                            pass
            """,
        ),
        _hostile(
            "reports a fault of ours", RUNTIME, "protocol",
            """
            def solution(x, s, y, n):
                sock = channel()
                sock.send(json.dumps({"type": "failed", "fault": "accepted"}).encode())
            """,
        ),
        _hostile(
            "floods the channel", RUNTIME, "protocol",
            """
            def solution(x, s, y, n):
                sock = channel()
                sock.setblocking(False)
                try:
                    while True:
                        sock.send(b'{"type":"prepared"}')
                except OSError:
                    pass
                honest(x, s, y, n)
                forge_done()
                time.sleep(2)
            """,
        ),
        _hostile(
            "sends descriptors", RUNTIME, "protocol",
            """
            def solution(x, s, y, n):
                for count in (1, 4, 60, 250):
                    socket.send_fds(channel(), [b'{"type": "x"}'], [0] * count)
            """,
        ),
        _hostile(
            "forks", Verdict.ACCEPTED, "",
            """
            left = [0, 1, 2]  # not in every call: their memory adds up
            def solution(x, s, y, n):
                while left:
                    left.pop()
                    if os.fork() == 0:
                        os.setsid()
                        if os.fork() == 0:
                            while True: time.sleep(0.001)
                        os._exit(0)
                honest(x, s, y, n)
            """,
        ),
        _hostile(
            "lets a child do the work later", WRONG, "elements of y are wrong",
            """
            def solution(x, s, y, n):
                if os.fork() == 0:
                    time.sleep(0.2)
                    honest(x, s, y, n)
                    os._exit(0)
            """,
        ),
        _hostile(
            "lets a thread do the work later", WRONG, "elements of y are wrong",
            """
            def later(*a):
                time.sleep(0.2)
                honest(*a)
            def solution(*a): threading.Thread(target=later, args=a).start()
            """,
        ),
        _hostile(
            "ignores signals", Verdict.ACCEPTED, "",
            """
            for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            def solution(*a): honest(*a)
            """,
        ),
        _hostile(
            "remembers", WRONG, "elements of y are wrong",
            """
            known = {}
            def solution(x, s, y, n):
                if n not in known:
                    known[n] = [x[i] + s for i in range(n)]
                for i in range(n):
                    y[i] = known[n][i]
            """,
        ),
    ],
)  # fmt: skip
def test_a_hostile_submission_gets_its_verdict(
    shift_task: Task, verdict: Verdict, words: str, source: str
) -> None:
    judged = judge(shift_task, source, call_s=0.4)
    assert (judged.verdict, words in judged.message) == (verdict, True), judged
    assert judged.seconds < 40
    assert len(judged.message) < 9000
    assert str(Path(__file__).parents[2]) not in judged.message  # nothing of ours in it
    assert "harness/" not in judged.message


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\x00garbage",
        b"x" * MAX_MESSAGE,
        b"x" * (MAX_MESSAGE + 100),
        b"[" * 60_000,
        b"9" * 60_000,
        b"[]",
        b"{}",
        b'{"type": 5}',
        b'{"type": "prepared", "captured": {"a": [1]}}',
        b'{"type": "finished", "n": NaN}',
        b'{"type": "\\ud800"}',
        b'{"type": "failed"}',
        b'{"type": "failed", "fault": ["cuda"], "message": {"a": 1}}',
        b'{"type": "failed", "fault": "exception", "message": "\\ud800\\u0000"}',
        b'{"type": "failed", "fault": "exception", "message": ' + b"1" * 4000 + b"}",
    ],
    ids=lambda data: repr(data[:20]),
)
def test_any_packet_of_a_submission_ends_in_a_verdict(shift_task: Task, data: bytes) -> None:
    source = f"{TOOLS}\ndata = {data[:60]!r} + {data[60:61]!r} * {max(0, len(data) - 60)}\n"
    if len(data) > 60 and len(set(data[60:])) > 1:
        source = f"{TOOLS}\ndata = {data!r}\n"
    source += "def solution(*a):\n  honest(*a)\n  channel().send(data)"
    judged = judge(shift_task, source, call_s=0.4)
    assert judged.verdict in (RUNTIME, LATE, WRONG)
    assert judged.seconds < 40


@pytest.mark.parametrize("fault", list(FaultCode))
def test_a_reported_fault_never_leads_to_acceptance(shift_task: Task, fault: FaultCode) -> None:
    source = f"""{TOOLS}
def solution(*a):
    honest(*a)
    channel().send(json.dumps({{"type": "failed", "fault": "{fault}", "message": "x"}}).encode())
"""
    judged = judge(shift_task, source, call_s=0.3)
    assert judged.verdict is not Verdict.ACCEPTED


def test_a_thread_that_forges_done_is_never_accepted(shift_task: Task) -> None:
    # Which phase notices depends on luck; that it is never accepted does not.
    source = f"""{TOOLS}
def forge():
    sock = channel()
    while True:
        forge_done()
        sock.send(json.dumps({{"type": "finished"}}).encode())
        time.sleep(0.001)
started = []
def solution(x, s, y, n):
    if not started:
        started.append(threading.Thread(target=forge, daemon=True).start())
    time.sleep(0.2)
"""
    judged = judge(shift_task, source, call_s=0.5)
    assert judged.verdict in (RUNTIME, WRONG)


def test_a_flood_of_output_is_cut_and_changes_no_verdict(shift_task: Task) -> None:
    source = (
        HONEST + "    import os\n    if n == 1: [os.write(1, b'y' * 2**20) for _ in range(100)]"
    )
    judged = judge(shift_task, source)
    assert judged.verdict is Verdict.ACCEPTED
    assert judged.seconds < 40
    assert 64 * 1024 < len(judged.output) < 65 * 1024
    assert "more bytes were printed" in judged.output


@pytest.mark.parametrize(
    ("what", "source"),
    [
        ("touched", "kept = [bytearray(b'x') * (16 << 20) for _ in range(20)]; time.sleep(0.2)"),
        ("at once", "bytearray(1 << 40)"),
        ("in a child", "os.fork(); x = bytearray(b'x') * (90 << 20); time.sleep(0.5)"),
        ("mapped", "m = mmap.mmap(-1, 300 << 20); m.write(b'x' * (300 << 20)); time.sleep(0.2)"),
    ],
)
def test_memory_beyond_the_limit_is_a_memory_limit(
    shift_task: Task, what: str, source: str
) -> None:
    code = f"{TOOLS}\ndef solution(*a):\n    {source}\n    honest(*a)"
    judged = judge(shift_task, code, host_bytes=128 << 20)
    assert judged.verdict is Verdict.MEMORY_LIMIT, judged
    assert judged.seconds < 40


@pytest.mark.corpus
def test_hanging_on_import_is_a_time_limit(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_START_SECONDS", 6.0)
    judged = judge(shift_task, "while True: pass", prepare_s=0.5)
    assert (judged.verdict, judged.message) == (
        LATE,
        "did not finish within 6.5 s of computing or sleeping",
    )


def test_an_answer_that_never_comes_is_a_time_limit(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ANSWER_SECONDS", 0.5)
    # The next message, on whose arrival the runner would answer, is eaten by a thread.
    source = f"""{TOOLS}
def eat():
    sock = channel()
    while True:
        sock.recv(1 << 16)
def solution(*a):
    honest(*a)
    for _ in range(4):
        threading.Thread(target=eat, daemon=True).start()
"""
    judged = judge(shift_task, source, prepare_s=0.5)
    assert judged.verdict is LATE
    assert judged.seconds < 40


def test_processes_that_cannot_be_stopped_are_a_runtime_error(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch.Sandbox, "pause", lambda self: False)
    judged = judge(shift_task, HONEST)
    assert (judged.verdict, judged.message) == (
        RUNTIME,
        "the submission's processes cannot be stopped",
    )


@pytest.mark.parametrize(
    ("source", "verdict", "words"),
    [
        ("x = 1", Verdict.INVALID_SUBMISSION, "defines no function `solution(...)`"),
        ("solution = 5", Verdict.INVALID_SUBMISSION, "defines no function"),
        ("def solution(:", RUNTIME, "SyntaxError"),
        ("raise RuntimeError('no luck')", RUNTIME, "RuntimeError: no luck\nsolution.py:1: raise"),
        ("import no_such_module", RUNTIME, "ModuleNotFoundError"),
        ("raise MemoryError", Verdict.MEMORY_LIMIT, "MemoryError"),
        ("def solution(x): ...", RUNTIME, "takes 1 positional argument but 4 were given"),
        ("class Unsupported(Exception): ...\nraise Unsupported('wmma')",
         Verdict.NOT_EXECUTABLE_HERE, "wmma"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_load_gets_its_verdict(
    shift_task: Task, source: str, verdict: Verdict, words: str
) -> None:
    judged = judge(shift_task, source)
    assert (judged.verdict, words in judged.message) == (verdict, True), judged


def test_a_crash_does_not_affect_the_next_submission(shift_task: Task) -> None:
    assert judge(shift_task, "import os; os.abort()").verdict is RUNTIME
    assert judge(shift_task, HONEST).verdict is Verdict.ACCEPTED


def test_submissions_are_judged_side_by_side(shift_task: Task) -> None:
    from concurrent.futures import ThreadPoolExecutor

    wrong = "def solution(*_): ..."
    with ThreadPoolExecutor(3) as pool:
        judged = list(pool.map(lambda source: judge(shift_task, source), [HONEST, wrong, HONEST]))
    assert [j.verdict for j in judged] == [Verdict.ACCEPTED, WRONG, Verdict.ACCEPTED]


Ready = Callable[[str], tuple[Session, Batch, HostArena]]


@pytest.fixture
def ready(shift_task: Task) -> Iterator[Ready]:
    """Makes a session with a batch of three calls prepared."""
    made: list[tuple[Session, HostArena]] = []

    def make(source: str, calls: int = 3) -> tuple[Session, Batch, HostArena]:
        task = limited(shift_task, call_s=2.0)
        case = Case(sizes={"n": 5}, scalars={"s": 0.5})
        session = Session(source_program(source.encode()), task.device, task.problem.limits)
        arena = HostArena(lay_out(task, case, calls).size)
        made.append((session, arena))
        assert session.load() is None
        assert session.map(arena) is None
        batch = Batch(task, case, arena, calls)
        batch.fill("warm-up")
        assert (
            session.prepare(batch, RunOptions(warmups=2)) is False
        )  # nothing is captured on a CPU
        return session, batch, arena

    yield make
    for session, arena in made:
        session.close()
        arena.close()


def test_a_runner_lets_go_of_its_buffers_and_maps_others(ready: Ready, shift_task: Task) -> None:
    session, batch, arena = ready(HONEST)
    assert session.unmap() is None
    assert session.unmap() is None  # there is nothing left to let go of
    assert session.map(arena) is None
    assert session.prepare(batch, RunOptions()) is False
    assert isinstance(session.run(batch, "seed"), float)
    assert batch.check() is None


class NoRoom:
    """A batch for whose inputs there is no memory."""

    def __init__(self, batch: Batch) -> None:
        self.layout = batch.layout

    def fill(self, seed: str) -> None:
        raise torch.OutOfMemoryError("no room")

    def take_receipt(self) -> None: ...


def test_a_session_lives_on_where_memory_runs_out_while_inputs_are_drawn(ready: Ready) -> None:
    """The runner, which waits for *go* then, is heard and hears again."""
    session, batch, arena = ready(HONEST)
    for _ in range(2):
        with pytest.raises(torch.OutOfMemoryError):
            session.run(NoRoom(batch), "seed")
        assert isinstance(session.run(batch, "seed"), float)
        assert batch.check() is None
    with pytest.raises(torch.OutOfMemoryError):
        session.run(NoRoom(batch), "seed")
    assert session.unmap() is None
    assert session.map(arena) is None


def test_a_first_call_that_takes_too_long_is_named_with_its_case(shift_task: Task) -> None:
    task = limited(shift_task, prepare_s=0.3)
    case = Case(sizes={"n": 3}, scalars={"s": 0.5})
    arena = task.device.arena(1 << 20)
    program = source_program(b"def solution(*a):\n    while True: pass")
    with closing(arena), Session(program, task.device, task.problem.limits) as session:
        assert session.load() is None
        assert session.map(arena) is None
        batch = Batch(task, case, arena, calls=2, portable=True)
        fault = session.prepare(batch, RunOptions(warmups=1))
    assert isinstance(fault, Fault)
    assert (fault.verdict, fault.message) == (
        LATE,
        "its first call with n=3,s=0.5, which compiles its kernels: did not finish within 0.3 s of "
        "computing or sleeping",
    )


def test_a_runner_cannot_change_the_measured_time(ready: Ready) -> None:
    slow = f"""{TOOLS}
def solution(*a):
    time.sleep(0.1)
    honest(*a)
time.perf_counter = time.monotonic = time.time = lambda: 0.0
"""
    session, batch, _ = ready(slow)
    seconds = session.run(batch, "seed")
    assert isinstance(seconds, float)
    assert 0.3 < seconds < 10
    assert batch.check() is None


def test_the_runner_is_stopped_while_inputs_are_written_and_outputs_are_read(ready: Ready) -> None:
    # A thread changes an output without end: after the batch nothing may move any more.
    source = f"""{TOOLS}
def solution(x, s, y, n):
    def meddle():
        while True:
            y[0] = time.perf_counter()
    if not threads:
        threads.append(threading.Thread(target=meddle, daemon=True))
        threads[0].start()
threads = []
"""
    session, batch, arena = ready(source)
    for round_ in range(3):
        assert isinstance(session.run(batch, f"seed {round_}"), float)
        before = arena.bytes.clone()
        time.sleep(0.05)
        assert bool((before == arena.bytes).all())


@pytest.mark.parametrize("busy", [0, 1])
def test_probes_show_work_that_waits_on_the_device_for_inputs(
    ready: Ready, monkeypatch: pytest.MonkeyPatch, busy: int
) -> None:
    """It may have ended when all of them are there: the judge looks before it writes any, too."""
    session, batch, _ = ready(HONEST)
    seen: list[str] = []
    fill = Batch.fill

    def probe() -> float:
        seen.append("probe")
        return 2e-3 if len(seen) == 1 + 2 * busy else 4e-5

    def lag(*first: Callable[[], None]) -> float:
        seen.append("lag")
        for each in first:
            seen.append("receipt")
            each()
        return 4e-5

    monkeypatch.setattr(session._device, "probe", probe)
    monkeypatch.setattr(session._device, "lag", lag)
    monkeypatch.setattr(Batch, "fill", lambda *how: (seen.append("fill"), fill(*how)))
    assert isinstance(session.run(batch, "one"), float)
    assert seen == ["probe", "fill", "probe", "lag", "receipt", "lag"]
    assert session.probes == (2e-3, 4e-5)


@pytest.mark.parametrize("late", [0, 1])
def test_probes_show_work_after_done_and_after_the_runner_is_stopped(
    ready: Ready, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    session, batch, _ = ready(HONEST)
    lags = iter([4e-5, 2e-3] if late else [2e-3, 4e-5])
    monkeypatch.setattr(session._device, "probe", lambda: 4e-5)
    monkeypatch.setattr(session._device, "lag", lambda *_: next(lags))
    assert isinstance(session.run(batch, "one"), float)
    assert session.probes == (4e-5, 2e-3)


def test_without_stop_the_device_is_probed_once_before_go(
    ready: Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, batch, _ = ready(HONEST)
    probes, lags = iter([4e-5]), iter([2e-4, 1e-4])
    monkeypatch.setattr(session._device, "probe", lambda: next(probes))
    monkeypatch.setattr(session._device, "lag", lambda *_: next(lags))
    assert isinstance(session.run(batch, "one", stop=False), float)
    assert session.probes == (4e-5, 2e-4)


def test_calls_whose_time_decides_nothing_need_no_probes(
    ready: Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, batch, _ = ready(HONEST)
    seen: list[str] = []
    fill, waiting = Batch.fill, session._done.wait
    for name in ("probe", "lag"):
        monkeypatch.setattr(session._device, name, lambda *_, name=name: seen.append(name))
    monkeypatch.setattr(session._device, "synchronize", lambda: seen.append("waited for"))
    monkeypatch.setattr(Batch, "fill", lambda *how: (seen.append("fill"), fill(*how)))
    monkeypatch.setattr(session._done, "wait", lambda *how: (seen.append("go"), waiting(*how))[1])
    assert isinstance(session.run(batch, "one", probed=False), float)
    assert seen == ["fill", "waited for", "go"]


def test_inputs_of_a_round_are_new(ready: Ready) -> None:
    session, batch, arena = ready(HONEST)
    seen = []
    for round_ in range(3):
        assert isinstance(session.run(batch, f"seed {round_}"), float)
        assert batch.check() is None
        slots = batch.layout.slots[0]
        seen.append(bytes(arena.bytes[slots.base : slots.base + slots.bytes].tolist()))
    assert len(set(seen)) == 3


def test_load_replaces_the_program(ready: Ready) -> None:
    session, batch, _ = ready("def solution(*_): ...")
    assert isinstance(session.run(batch, "one"), float)
    assert batch.check() is not None
    assert session.load(source_program(HONEST.encode())) is None
    assert session.prepare(batch, RunOptions()) is False
    assert isinstance(session.run(batch, "two"), float)
    assert batch.check() is None


@pytest.mark.corpus
def test_output_survives_a_time_limit_and_a_kill(shift_task: Task, tmp_path: Path) -> None:
    python = "print('before')\ndef solution(*a):\n  print('during')\n  while True: pass"
    assert judge(shift_task, python, call_s=0.2).output == "before\nduring\n"
    c = LIBRARY.replace("BODY", 'puts("during"); raise(SIGKILL);').replace("CODE", "0")
    with Session(
        _compile(tmp_path, "#include <stdio.h>\n" + c), shift_task.device, shift_task.problem.limits
    ) as session:
        assert session.load() is None
        assert run_cases(session, shift_task, CASES, _nothing).fault is not None
        assert session.output() == "during\n"


def test_peak_memory_is_measured(ready: Ready) -> None:
    session, batch, _ = ready(f"{TOOLS}\ndef solution(*a): time.sleep(0.1)")
    session.run(batch, "seed")
    assert 1 << 20 < session._channel.peak_bytes < 200 << 20


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("0", 0.0), ("1", 1.0), ("2.5", 2.5), ("1000000", 1e6), ("1000001", None), ("-1", None),
        ("NaN", None), ("Infinity", None), ("true", None), ("null", None), ('"1"', None),
        ("[1]", None), ("1e400", None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_reported_kernel_counts_are_small_numbers_or_none(
    ready: Ready, said: str, kept: float | None
) -> None:
    source = f"""{TOOLS}
calls = []
def solution(*a):
    honest(*a)
    calls.append(a)
    if len(calls) > 2:  # two were to warm up
        channel().send(b'{{"type": "finished", "kernels": {said}}}')
"""
    session, batch, _ = ready(source, calls=1)
    assert isinstance(session.run(batch, "seed"), float)
    assert session.kernels == kept
    assert batch.check() is None


def test_kernel_counts_of_python_on_a_cpu_are_unknown(ready: Ready) -> None:
    session, batch, _ = ready(HONEST)
    assert isinstance(session.run(batch, "seed"), float)
    assert session.kernels is None


def test_close_is_idempotent(ready: Ready) -> None:
    session, _, _ = ready(HONEST)
    session.close()
    session.close()


def test_layers_of_the_sandbox_are_reported(ready: Ready) -> None:
    session, _, _ = ready(HONEST)
    assert "resource limits" in session.layers


def test_a_runner_of_another_version_is_the_machines_fault(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = messages.VERSION
    monkeypatch.setattr(messages, "VERSION", 99)  # of the judge; the runner is another process
    program = source_program(HONEST.encode())
    with (
        Session(program, shift_task.device, shift_task.problem.limits) as session,
        pytest.raises(
            MachineError, match=rf"speaks version {spoken} .* and the judge version 99: "
        ),
    ):
        session.load()


def test_a_sandbox_that_does_not_start_is_the_machines_fault(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = "import sys; print('no luck'); sys.exit(3)"
    monkeypatch.setattr(support, "MONITOR", (sys.executable, "-c", boot))
    monkeypatch.setattr(runners, "choose_zygote", lambda _: None)
    program = source_program(HONEST.encode())
    with (
        Session(program, shift_task.device, shift_task.problem.limits) as session,
        pytest.raises(MachineError, match=r"the sandbox does not start: .*\nno luck"),
    ):
        session.load()


def test_a_runner_that_dies_before_it_loads_anything_is_started_again(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, started = runners.start_runner, []

    def start_and_kill(*arguments: Any) -> launch.Sandbox:
        sandbox = start(*arguments)
        started.append(sandbox.folder)
        if len(started) == 1:
            processes.end([sandbox.process.pid], 5)
        return sandbox

    monkeypatch.setattr(runners, "start_runner", start_and_kill)
    program = source_program(HONEST.encode())
    with Session(program, shift_task.device, shift_task.problem.limits) as session:
        assert session.load() is None
    assert len(started) == 2
    assert not started[0].exists()


# -- shared libraries ------------------------------------------------------------------------------

LIBRARY = """
#include <stddef.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int cudacpu_take_error(char* text, size_t size) { text[0] = 0; return CODE; }
void cudacpu_configure(int order, unsigned long long seed, int workers) {}
unsigned long long cudacpu_launches(void) { return 3; }
void cudacpu_guard(void* p, size_t n) {}
void cudacpu_unguard_rows(void* p, size_t n, size_t s, size_t b) {}
void solution(const float* x, float s, float* y, size_t n) {
    BODY
    for (size_t i = 0; i < n; i++) y[i] = x[i] + s;
}
"""


@pytest.mark.parametrize(
    ("body", "code", "verdict", "words"),
    [
        ("", 0, Verdict.ACCEPTED, ""),
        ("exit(0);", 0, RUNTIME, "exit status 0"),
        ("_exit(0);", 0, RUNTIME, "exit status 0"),
        ("abort();", 0, RUNTIME, "SIGABRT"),
        ("*(volatile int*)0 = 1;", 0, RUNTIME, "SIGSEGV"),
        pytest.param("for (;;);", 0, LATE, "did not finish within", marks=pytest.mark.corpus),
        pytest.param("raise(SIGSTOP);", 0, LATE, "did not finish within", marks=pytest.mark.corpus),
        ("*(int*)x ^= 1;", 0, WRONG, "const input x was changed (element 0)"),
        ("y[n] = 1;", 0, WRONG, "wrote out of bounds: 0 bytes after the end of y"),
        ("y[-1] = 1;", 0, WRONG, "wrote out of bounds"),
        ("", 2, Verdict.MEMORY_LIMIT, "memory"),
        ("", 700, RUNTIME, "cuda"),
        ("", 10001, RUNTIME, "barrier"),
        ("", 10002, Verdict.NOT_EXECUTABLE_HERE, "unsupported"),
    ],
)
def test_a_library_gets_its_verdict(
    shift_task: Task, tmp_path: Path, body: str, code: int, verdict: Verdict, words: str
) -> None:
    built = _compile(tmp_path, LIBRARY.replace("BODY", body).replace("CODE", str(code)))
    task = limited(shift_task, call_s=0.5)
    with Session(built, task.device, task.problem.limits) as session:
        assert session.load() is None
        outcome = run_cases(session, task, CASES, _nothing)
    fault = outcome.fault or Fault(Verdict.ACCEPTED, "")
    assert (fault.verdict, words in fault.message) == (verdict, True), fault


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("int x;", 'no function `extern "C" void solution(...)`'),
        ("void missing(void); void solution(void) { missing(); }", "undefined symbol: missing"),
    ],
)
def test_a_library_without_its_entry_is_an_invalid_submission(
    shift_task: Task, tmp_path: Path, source: str, words: str
) -> None:
    with Session(
        _compile(tmp_path, source), shift_task.device, shift_task.problem.limits
    ) as session:
        fault = session.load()
    assert fault is not None
    assert fault.verdict is Verdict.INVALID_SUBMISSION
    assert words in fault.message
    assert "/proc" not in fault.message


def _compile(folder: Path, source: str) -> RunnerProgram:
    (folder / "solution.c").write_text(source)
    command = ["cc", "-shared", "-fPIC", "-O0", "-w", "-o", "solution.so", "solution.c"]
    subprocess.run(command, cwd=folder, check=True)
    return RunnerProgram(kind="library", file=folder / "solution.so")
