"""Who takes part in a measurement: a session with a batch of its own, captured if it can be."""

import time
from collections.abc import Callable
from typing import TypeVar

from harness.device.memory import Arena
from harness.errors import MachineError
from harness.judge.batch import Batch, BatchMismatch, lay_out
from harness.judge.checker import Checker
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import RunOptions, Session
from harness.timing.audit import IdleBaseline, IdleMonitor, audit_batch

T = TypeVar("T")

Pair = tuple["TimedProgram", "TimedProgram"]
"""The submission, and what it is timed in turns with."""

_CAPTURE_CALLS = 2


class BaselineError(MachineError):
    """A baseline failed while it was timed: no fault of the submission beside it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the baseline failed: {reason}")
        self.reason = reason


class TimedProgram:
    """A session that takes part in a measurement, with its own batch of calls.

    A trusted one's outputs decide nothing, and it does not fail: that is an error of the machine
    or of the problem's package. ``capture`` asks for its calls to be recorded into one
    graph; ``captured`` tells whether they were. ``elapsed_s`` is how long blocks with it took so far,
    ``round_trip_s`` what one call of its last batch took with everything around it: drawing inputs,
    waiting, checking. ``estimated_call_s`` is what a call is thought to take by itself. ``usual`` says how
    long the judge's probes take while the device is idle.
    """

    def __init__(
        self,
        session: Session,
        task: Task,
        *,
        trusted: bool,
        capture: bool,
        usual: IdleBaseline | None = None,
    ) -> None:
        self.session = session
        self.capture = capture
        self.captured = False
        self.calls = 1
        self.elapsed_s = 0.0
        self.round_trip_s = 0.0
        self.estimated_call_s = 0.0
        self._usual = usual or IdleBaseline()
        self._idleness = IdleMonitor(self._usual)
        self._task = task
        self._trusted = trusted
        self._checker = Checker(task, kept=True)
        self._arena: Arena | None = None
        self._batch: Batch | None = None

    @property
    def batch(self) -> Batch:
        """The batch that was laid out last."""
        assert self._batch is not None
        return self._batch

    def setup(self, case: Case, calls: int, *, check_outputs: bool = False) -> Fault | None:
        """Lay out ``calls`` calls, warm them up on throw-away inputs, capture them.

        ``check_outputs``: even a trusted one's outputs are checked, so that around its batches the judge
        keeps device and host as busy as around any other's.

        Raises:
            BaselineError: it is a trusted one, and failed.
        """
        return self._trust(self._setup(case, calls, checked=check_outputs or not self._trusted))

    def _setup(self, case: Case, calls: int, *, checked: bool) -> Fault | None:
        self.calls = calls
        device = self._task.device
        size = lay_out(self._task, case, calls).size
        if self._arena is None or self._arena.size < size:
            self.release()
            self._arena = device.arena(size)
            fault = self.session.map(self._arena)
            if fault is not None:
                return fault
        self._batch = Batch(
            self._task, case, self._arena, calls, checked=checked, checker=self._checker
        )
        self._batch.fill_for_warm_up(f"{self._task.seed}/warm-up")
        device.synchronize()
        plan = RunOptions(warmups=1 if device.kind == "cuda" else 0, capture=self.capture)
        prepared = self.session.prepare(self._batch, plan)
        if isinstance(prepared, Fault):
            return prepared
        self.captured = prepared
        return None

    def time(self, seed: str, *, awake: bool = False, idle_after_s: float = 0.0) -> float | Fault:
        """Seconds for one batch on fresh inputs; all its outputs are checked.

        Work that goes on after *done* counts: what the probe takes longer than usual, or than
        ``idle_after_s``, which it took after a batch of ours. ``awake``: the runner is not stopped
        before *go*, and what its probes show is the caller's to judge: they differ from those of
        others.

        Raises:
            BaselineError: it is a trusted one, and failed.
        """
        began = time.perf_counter()
        try:
            return self._time(seed, awake, idle_after_s)
        finally:
            self.round_trip_s = (time.perf_counter() - began) / self.calls

    def _time(self, seed: str, awake: bool, idle_after_s: float) -> float | Fault:
        seconds = self._trust(self.session.run(self.batch, seed, stop=not awake))
        if isinstance(seconds, Fault) or not self.batch.checked:
            return seconds
        found = audit_batch(self.batch)
        if self._trusted:
            return seconds
        if found is not None:
            return _wrong(self.batch, found)
        if awake:
            return seconds
        return seconds + self._idleness.note(*self.session.probes, idle_after_s=idle_after_s)

    def _trust(self, outcome: T) -> T:
        if self._trusted and isinstance(outcome, Fault):
            raise BaselineError(outcome.message)
        return outcome

    def started_early_fault(self) -> Fault | None:
        """What follows if the device is always at work when inputs are there, as in the last batch.

        A trusted one's batches tell, too, of whoever is timed beside it.
        """
        return self._usual.started_early_fault(self.session.probes[0])

    def idle_fault(self) -> Fault | None:
        """Whether most batches so far found the device at work; forgets them."""
        seen, self._idleness = self._idleness, IdleMonitor(self._usual)
        return seen.fault()

    def vacate(self) -> int:
        """Forget the batch; how many bytes the arena has, which the next one gets."""
        self._batch = None
        return self._arena.size if self._arena is not None else 0

    def release(self) -> None:
        """Give the arena back."""
        if self._arena is not None:
            self._batch = None
            self._arena.close()
            self._arena = None


def _wrong(batch: Batch, found: BatchMismatch) -> Fault:
    return Fault(
        Verdict.WRONG_ANSWER,
        f"{found.message} in call {found.call + 1} of {batch.layout.calls} timed calls",
        found.mismatch,
    )


def prepare_for_timing(
    session: Session,
    restart: Callable[[], Session | Fault],
    task: Task,
    case: Case,
    usual: IdleBaseline | None = None,
) -> TimedProgram | Fault:
    """The submission as a contender: captured if it can be, else in a fresh process, uncaptured.

    Synchronising or allocating inside a call forbids capture; both are honest and common. So does
    work on streams that the recorded one does not wait for, which shows in wrong outputs. A failed
    capture can leave a submission in any state (many call ``exit`` on any error), so the plain
    calls are made by a process that never saw one.
    """
    if task.device.kind != "cuda":
        return TimedProgram(session, task, trusted=False, capture=False)
    contender = TimedProgram(session, task, trusted=False, capture=True, usual=usual)
    fault = contender.setup(case, _CAPTURE_CALLS)
    if fault is None and contender.captured:
        seconds = contender.time(f"{task.seed}/capture")
        if not isinstance(seconds, Fault):
            return contender
    contender.release()
    session.close()
    fresh = restart()
    if isinstance(fresh, Fault):
        return fresh
    return TimedProgram(fresh, task, trusted=False, capture=False, usual=usual)


def in_turns(block: int) -> tuple[int, int]:
    """Who of a pair goes first in a block, and who second: A B, then B A, and so on."""
    return (0, 1) if block % 2 == 0 else (1, 0)
