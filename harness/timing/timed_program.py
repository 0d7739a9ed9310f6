"""A program that takes part in a measurement: a session with a batch of its own calls."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from harness.device.base import Arena, ClockReading, Monitor
from harness.errors import MachineError
from harness.judge.batch import Batch
from harness.judge.checker import Checker
from harness.judge.early_reads import EarlyReads
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.runs import RunOptions
from harness.session.session import Session
from harness.timing.audit import IdleBaseline, IdleMonitor
from harness.timing.statistics import Timed

T = TypeVar("T")


class CallSize(NamedTuple):
    """What a call of a program was seen to take."""

    call_s: float
    """Seconds by itself."""
    round_trip_s: float
    """Seconds with all around it: inputs, waiting, checks."""


class KeptTimes(NamedTuple):
    """Times of a program on one shape, taken by itself, that count beside others' for a while."""

    times: tuple[Timed, ...]
    calls: int
    """In each of its batches."""
    kernels: float | None
    """That a call launched; None if unknown."""


Pair = tuple["TimedProgram", "TimedProgram"]
"""The submission, and what it is timed in turns with."""

_CAPTURE_CALLS = 2


class BaselineError(MachineError):
    """A baseline failed while it was timed: no fault of the submission beside it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the baseline failed: {reason}")
        self.reason = reason


class TimedProgram:
    """A session and its batch of calls, timed on fresh inputs as often as a measurement asks.

    Args:
        name: the :attr:`Fault.whose` of its faults.
        trusted: its outputs decide nothing, and a fault of it is an error of the machine or of
            the problem's package (:class:`BaselineError`).
        capture: record its calls into one graph.
        cpu: the processor that its runner launches recorded calls from; None: any.
        idle: how long the judge's probes take while the device is idle.
        monitor: tells the clocks after each batch, if there is one.
        sizes: of its calls in earlier measurements, by the spec of their case; others are added.
        kept: times by the spec of their case, which are not taken anew.
    """

    def __init__(
        self,
        session: Session,
        task: Task,
        *,
        name: str,
        trusted: bool,
        capture: bool,
        cpu: int | None = None,
        idle: IdleBaseline | None = None,
        monitor: Monitor | None = None,
        sizes: dict[str, CallSize] | None = None,
        kept: Mapping[str, KeptTimes] | None = None,
    ) -> None:
        self.kept = {} if kept is None else kept
        self.sizes = {} if sizes is None else sizes
        self.session = session
        self.name = name
        self.capture = capture
        self.captured = False
        """Whether the calls of the batch were recorded."""
        self.calls = 1
        self.elapsed_s = 0.0
        """Seconds that its blocks took so far, of all shapes: the first warm the device up."""
        self.round_trip_s = 0.0
        """Seconds per call of the last batch with all around it: inputs, waiting, checks."""
        self.estimated_call_s = 0.0
        """Seconds per call of the last batch by itself."""
        self.times_as_long: float | None = None
        """How many times as long as the other's its calls took on the shape before."""
        self.clocks: ClockReading | None = None
        """The clocks right after the last batch; None if not known, or the runner was awake."""
        self.cpu = cpu
        self._monitor = monitor
        self._idle = idle or IdleBaseline()
        self._idle_monitor = IdleMonitor(self._idle)
        self._task = task
        self.trusted = trusted
        self._checker = Checker(task, reused=True)
        self._arena: Arena | None = None
        self._batch: Batch | None = None

    @property
    def batch(self) -> Batch:
        """The batch that was laid out last."""
        assert self._batch is not None
        return self._batch

    def setup(self, case: Case, calls: int, *, check_outputs: bool = False) -> Fault | None:
        """Lay out ``calls`` calls, warm them up on throw-away inputs, capture them.

        ``check_outputs``: also a trusted program's, so that the host is as busy around its batches.

        Raises:
            BaselineError: it is a trusted one, and failed.
        """
        return self._own(self._setup(case, calls, checked=check_outputs or not self.trusted))

    def _setup(self, case: Case, calls: int, *, checked: bool) -> Fault | None:
        self.calls = calls
        device = self._task.device
        size = lay_out(self._task, case, calls).size
        if self._arena is None or self._arena.size < size:
            self.make_room()
            self._arena = device.arena(size)
            fault = self.session.map(self._arena)
            if fault is not None:
                return fault
        self._batch = Batch(
            self._task, case, self._arena, calls, checked=checked, checker=self._checker
        )
        self._batch.fill_for_warm_up(f"{self._task.seed}/warm-up")
        device.synchronize()
        options = RunOptions(warmups=0 if device.emulated else 1, capture=self.capture)
        prepared = self.session.prepare(self._batch, options)
        if isinstance(prepared, Fault):
            return prepared
        self.captured = prepared
        return None

    def time(self, seed: str, *, awake: bool = False, idle_after_s: float = 0.0) -> float | Fault:
        """Seconds for one batch on fresh inputs; all its outputs are checked.

        Work that goes on after *done* counts: what the probe takes longer than on an idle device,
        or than ``idle_after_s``, which it took after a null batch. ``awake``: the runner is not
        stopped before *go*, and the caller judges the probes.

        Raises:
            BaselineError: it is a trusted one, and failed.
        """
        began = time.perf_counter()
        try:
            return self._own(self._time(seed, awake, idle_after_s))
        finally:
            self.round_trip_s = (time.perf_counter() - began) / self.calls

    def _time(self, seed: str, awake: bool, idle_after_s: float) -> float | Fault:
        expected_s = self.estimated_call_s * self.calls
        seconds = self.session.run(
            self.batch, seed, stop=not awake, cpu=self.cpu, expected_s=expected_s
        )
        self.clocks = self._monitor.clocks() if self._monitor and not awake else None
        if isinstance(seconds, Fault) or not self.batch.checked:
            return seconds
        if not self.trusted and (fault := self._company_fault()) is not None:
            return fault
        found = self.batch.written_late() or self.batch.check()
        if self.trusted or (awake and found is None):
            return seconds
        if found is not None:
            where = f"in call {found.call + 1} of {self.calls} timed calls"
            return Fault(Verdict.WRONG_ANSWER, f"{found.message} {where}", found.mismatch)
        return seconds + self._idle_monitor.note(*self.session.probes, idle_after_s=idle_after_s)

    def watch(self, reads: EarlyReads, seed: str, during: Callable[[float], None]) -> Fault | None:
        """Run the batch that ``reads`` looks at on fresh inputs; ``during`` is called meanwhile.

        Nothing is timed, and outputs are the caller's to check.
        """
        seconds = self.session.run(reads, seed, cpu=self.cpu, during=during)
        return self._own(seconds) if isinstance(seconds, Fault) else None

    def _company_fault(self) -> Fault | None:
        """The fault of a submission with more than one process, once it has been warmed up.

        Others could slow down what it is timed beside. Where there is no warm-up, compilers may
        still be at work, and times decide nothing.
        """
        others = self.session.running() - 1
        if self._task.device.emulated or others <= 0:
            return None
        return Fault(
            Verdict.REJECTED,
            f"while times are taken a submission has one process, and {others} more of it "
            f"{'is' if others == 1 else 'are'} still there: what it starts has to end before its "
            "first call returns",
        )

    def _own(self, outcome: T | Fault) -> T | Fault:
        """``outcome``, a fault in it signed with this program's name."""
        if not isinstance(outcome, Fault):
            return outcome
        if self.trusted:
            raise BaselineError(outcome.message)
        return replace(outcome, whose=self.name)

    def started_early_fault(self) -> Fault | None:
        """The fault of a device at work before the inputs of the last batch were there.

        Where this program is trusted the other one may be the cause: never a BaselineError.
        """
        fault = self._idle.started_early_fault(self.session.probes[0])
        return fault and replace(fault, whose=self.name)

    def idle_fault(self) -> Fault | None:
        """The fault of a device found at work around most batches so far; forgets them."""
        seen, self._idle_monitor = self._idle_monitor, IdleMonitor(self._idle)
        fault = seen.fault()
        return fault and replace(fault, whose=self.name)

    def vacate(self) -> int:
        """Forget the batch and what its checks hold; the bytes of the arena, for the next one."""
        self._batch = None
        self._checker = Checker(self._task, reused=True)
        return self._arena.size if self._arena is not None else 0

    def make_room(self) -> None:
        """Give the arena back, and have a runner that lives on let go of it.

        One that does not answer shows when it is asked for the next thing.
        """
        if self._arena is not None:
            self.session.unmap()
            self.release()

    def release(self) -> None:
        """Give the arena back; its memory is free once the runner has ended, or let go of it."""
        if self._arena is not None:
            self._batch = None
            self._arena.close()
            self._arena = None


def prepare_for_timing(
    session: Session,
    restart: Callable[[], Session | Fault],
    task: Task,
    case: Case,
    *,
    name: str = "submission",
    cpu: int | None = None,
    idle: IdleBaseline | None = None,
    monitor: Monitor | None = None,
) -> TimedProgram | Fault:
    """The submission to be timed: captured if it can be, else in a fresh process, uncaptured.

    Synchronising or allocating inside a call forbids capture; both are honest and common. So does
    work on streams that the recorded one does not wait for, which shows in wrong outputs. A failed
    capture can leave a submission in any state, so plain calls are made by a fresh process.
    """

    def timed(session: Session, *, capture: bool) -> TimedProgram:
        return TimedProgram(
            session,
            task,
            name=name,
            trusted=False,
            capture=capture,
            cpu=cpu,
            idle=idle,
            monitor=monitor,
        )

    if not task.device.captures_graphs:
        return timed(session, capture=False)
    program = timed(session, capture=True)
    fault = program.setup(case, _CAPTURE_CALLS)
    if fault is None and program.captured:
        seconds = program.time(f"{task.seed}/capture")
        if not isinstance(seconds, Fault):
            return program
    program.release()
    session.close()
    fresh = restart()
    return fresh if isinstance(fresh, Fault) else timed(fresh, capture=False)


def in_turns(block: int) -> tuple[int, int]:
    """The order of a pair in a block: A B, then B A, and so on."""
    return (0, 1) if block % 2 == 0 else (1, 0)
