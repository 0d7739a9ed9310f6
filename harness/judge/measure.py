"""Time: batches of fresh, checked calls, in turns with the baseline, until the interval is tight.

The method and the measurements it rests on are in docs/measurement.md.
"""

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from harness.errors import MachineError
from harness.judge.audit import BASELINE_FIRST_S, Idleness, Usual, audit_batch, linearity_fault
from harness.judge.batch import Batch, Problems, lay_out
from harness.judge.memory import Arena
from harness.judge.session import Fault, Plan, Session
from harness.judge.statistics import (
    LEAST_S,
    Timed,
    difference_interval,
    lower_quartile,
    ratio_interval,
    time_interval,
)
from harness.judge.task import Task
from harness.problem.draws import Case
from harness.result import BaselineTime, Interval, Measurement, Verdict

if TYPE_CHECKING:
    from harness.judge.blank import Blank

T = TypeVar("T")

Samples = tuple[list[Timed], list[Timed]]
"""Per call, one per block: the submission's, and the baseline's in the same blocks."""

_FEW_CALLS = 16
_CAPTURE_CALLS = 2
_CLEAR = 5.0
_UNCOUNTED = 2
_FEW_ALONE = 10
_AGREE = 1.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure; seconds, relative half-widths.

    A batch lasts at least ``batch_s``. The first shape is warmed up for ``warm_s``. Blocks are
    added until the interval of the speed-up is within ``tight``, for ``budget_s``, and on for
    ``patience_s`` while it is wider than ``wide``. What is not ranked is a score that stays wider
    than ``rankable``, or a shape's speed-up wider than ``rankable_shape``. Last, a call is timed
    alone, in up to ``alone_blocks`` blocks, for ``alone_s`` seconds.
    """

    batch_s: float = 0.025
    warm_s: float = 0.7
    min_blocks: int = 6
    max_blocks: int = 40
    tight: float = 0.0025
    wide: float = 0.005
    rankable: float = 0.01
    rankable_shape: float = 0.03
    budget_s: float = 0.8
    patience_s: float = 3.0
    memory_share: float = 0.2
    max_calls: int = 1000
    alone_blocks: int = 60
    alone_s: float = 0.3


CPU_EFFORT = Effort(
    batch_s=0.02,
    warm_s=0.0,
    min_blocks=3,
    max_blocks=3,
    budget_s=0.0,
    patience_s=0.0,
    memory_share=0.15,
    max_calls=100,
    alone_blocks=0,
)
"""Functional timing on a CPU: shown, never ranked with a GPU's, so a few batches are enough."""


class BaselineError(MachineError):
    """A baseline failed while it was timed: no fault of the submission beside it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the baseline failed: {reason}")
        self.reason = reason


class Contender:
    """A session that takes part in a measurement, with its own batch of calls.

    A trusted one's outputs decide nothing, and it does not fail: that is an error of the machine
    or of the problem's package. ``capture`` asks for its calls to be recorded into one
    graph; ``captured`` tells whether they were. ``busy_s`` is how long blocks with it took so far.
    ``usual`` says how long the judge's probes take while the device is idle.
    """

    def __init__(
        self,
        session: Session,
        task: Task,
        *,
        trusted: bool,
        capture: bool,
        usual: Usual | None = None,
    ) -> None:
        self.session = session
        self.capture = capture
        self.captured = False
        self.calls = 1
        self.busy_s = 0.0
        self._usual = usual or Usual()
        self._idleness = Idleness(self._usual)
        self._task = task
        self._trusted = trusted
        self._arena: Arena | None = None
        self._batch: Batch | None = None

    @property
    def batch(self) -> Batch:
        """The batch that was laid out last."""
        assert self._batch is not None
        return self._batch

    def setup(self, case: Case, calls: int, *, alike: bool = False) -> Fault | None:
        """Lay out ``calls`` calls, warm them up on throw-away inputs, capture them.

        ``alike``: even a trusted one's outputs are checked, so that around its batches the judge
        keeps device and host as busy as around any other's.

        Raises:
            BaselineError: it is a trusted one, and failed.
        """
        return self._trust(self._setup(case, calls, checked=alike or not self._trusted))

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
        self._batch = Batch(self._task, case, self._arena, calls, checked=checked)
        self._batch.fill(f"{self._task.seed}/warm-up")
        device.synchronize()
        plan = Plan(warmups=1 if device.kind == "cuda" else 0, capture=self.capture)
        prepared = self.session.prepare(self._batch, plan)
        if isinstance(prepared, Fault):
            return prepared
        self.captured = prepared
        return None

    def time(self, seed: str, *, awake: bool = False) -> float | Fault:
        """Seconds for one batch on fresh inputs; all its outputs are checked.

        Work that goes on after *done* counts. ``awake``: the runner is not stopped before *go*, and
        what its probes show is the caller's to judge: they differ from those of others.

        Raises:
            BaselineError: it is a trusted one, and failed.
        """
        seconds = self._trust(self.session.run(self.batch, seed, stop=not awake))
        if isinstance(seconds, Fault) or not self.batch.checked:
            return seconds
        found = audit_batch(self.batch)
        if self._trusted:
            return seconds
        if found is not None:
            return _wrong(self.batch, found)
        return seconds if awake else seconds + self._idleness.note(*self.session.probes)

    def _trust(self, outcome: T) -> T:
        if self._trusted and isinstance(outcome, Fault):
            raise BaselineError(outcome.message)
        return outcome

    def idle_fault(self) -> Fault | None:
        """Whether most batches so far found the device at work; forgets them."""
        seen, self._idleness = self._idleness, Idleness(self._usual)
        return seen.fault()

    def release(self) -> None:
        """Give the arena back."""
        if self._arena is not None:
            self._batch = None
            self._arena.close()
            self._arena = None


def _wrong(batch: Batch, found: Problems) -> Fault:
    return Fault(
        Verdict.WRONG_ANSWER,
        f"{found.message} in call {found.call + 1} of {batch.layout.calls} timed calls",
        found.mismatch,
    )


def join(
    session: Session,
    restart: Callable[[], Session | Fault],
    task: Task,
    case: Case,
    usual: Usual | None = None,
) -> Contender | Fault:
    """The submission as a contender: captured if it can be, else in a fresh process, uncaptured.

    Synchronising or allocating inside a call forbids capture; both are honest and common. So does
    work on streams that the recorded one does not wait for, which shows in wrong outputs. A failed
    capture can leave a submission in any state (many call ``exit`` on any error), so the plain
    calls are made by a process that never saw one.
    """
    if task.device.kind != "cuda":
        return Contender(session, task, trusted=False, capture=False)
    contender = Contender(session, task, trusted=False, capture=True, usual=usual)
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
    return Contender(fresh, task, trusted=False, capture=False, usual=usual)


def choose_calls(task: Task, case: Case, seconds: float, effort: Effort) -> int:
    """Calls per batch: long enough to drown the constant, no more than memory allows."""
    wanted = math.ceil(effort.batch_s / max(seconds, 1e-7))
    per_call = lay_out(task, case, 1).size
    room = int(effort.memory_share * task.device.free_bytes() / per_call)
    return max(1, min(wanted, room, effort.max_calls))


def measure_shape(
    task: Task,
    case: Case,
    submission: Contender,
    baseline: Contender,
    effort: Effort,
    blank: "Blank | None",
    told: Callable[[Samples], None],
) -> Measurement | Fault:
    """Time one shape: submission and baseline in turns (A B, B A, …), then audit what was timed.

    ``blank`` is None where what a batch costs beyond its calls is not known. ``told`` is called
    after each block that counts, with all there are so far.
    """
    pair = (submission, baseline)
    for contender in pair:
        fault = _size_batch(contender, task, case, effort, blank.batch_s if blank else 0.0)
        if fault is not None:
            return fault
    samples: Samples = ([], [])
    start = time.perf_counter()
    for block in itertools.count():
        began = time.perf_counter()
        seed = f"{task.seed}/{case.spec}/{block}"
        timed = _block(pair, block, seed, blank)
        if isinstance(timed, Fault):
            return timed
        submission.busy_s += time.perf_counter() - began
        if submission.busy_s < effort.warm_s:
            start = time.perf_counter()
            continue
        for which, contender in enumerate(pair):
            batch_s, blank_s = timed[which]
            samples[which].append(Timed(batch_s / contender.calls, blank_s / contender.calls))
        told(samples)
        if _enough(samples, time.perf_counter() - start, effort):
            break
    measured = _measurement(task, case, pair, samples)
    if (fault := submission.idle_fault()) is not None:
        return fault
    if effort.alone_blocks == 0 or measured.calls_per_batch == 1:
        return measured
    alone = _alone(pair, task, case, measured, effort)
    if isinstance(alone, Fault):
        return alone
    return _in_doubt_slower(measured.model_copy(update={"alone_s": alone}))


def _alone(
    pair: tuple[Contender, Contender], task: Task, case: Case, measured: Measurement, effort: Effort
) -> Interval | Fault:
    """Seconds that one call takes in a batch of its own.

    The baseline's calls, which are honest, take about as long alone as among many, so what its
    batches take beyond that is the constant of these very blocks: one that was measured elsewhere
    is off by up to 60 µs. So are the probes: what the baseline's took is usual here.
    """
    for contender in pair:
        if (fault := contender.setup(case, 1, alike=True)) is not None:
            return fault
    times: tuple[list[float], list[float]] = ([], [])
    probes: tuple[list[Usual], list[Usual]] = ([], [])
    start = time.perf_counter()
    for block in range(_UNCOUNTED + effort.alone_blocks):
        took = _block(pair, block, f"{task.seed}/{case.spec}/alone/{block}", awake=True)
        if isinstance(took, Fault):
            return took
        if block >= _UNCOUNTED:
            for which, contender in enumerate(pair):
                times[which].append(took[which].batch_s)
                probes[which].append(Usual(*contender.session.probes))
        if len(times[0]) >= _FEW_ALONE and time.perf_counter() - start > effort.alone_s:
            break
    idleness = Idleness(Usual.median(probes[1]))
    unseen = [idleness.note(seen.before_s, seen.after_s, awake=True) for seen in probes[0]]
    lone = [seconds + more for seconds, more in zip(times[0], unseen, strict=True)]
    longer, usual_s = difference_interval(lone, times[1]), measured.baseline_s.value
    return Interval(
        value=longer.value + usual_s, low=longer.low + usual_s, high=longer.high + usual_s
    )


def _in_doubt_slower(measured: Measurement) -> Measurement | Fault:
    """What counts where a call takes longer alone than among many.

    In a graph that must not be. Plain calls may overlap: honest ones their launch with the kernel
    before, others themselves. From outside these cannot be told apart, so the longer time counts.
    """
    assert measured.alone_s is not None
    among = measured.time_s.value
    if measured.captured:
        return linearity_fault(measured.alone_s, among, measured.kernels) or measured
    factor = (measured.alone_s.value + BASELINE_FIRST_S) / among
    if factor <= _AGREE:
        return measured
    slower = {
        "time_s": _times(measured.time_s, factor),
        "speedup": _times(measured.speedup, 1 / factor),
    }
    return measured.model_copy(update=slower)


def _times(interval: Interval, factor: float) -> Interval:
    return Interval(
        value=interval.value * factor, low=interval.low * factor, high=interval.high * factor
    )


def _block(
    pair: tuple[Contender, Contender],
    block: int,
    seed: str,
    blank: "Blank | None" = None,
    *,
    awake: bool = False,
) -> list[Timed] | Fault:
    """One batch of each, after a blank one on its buffers; the order changes with the block."""
    timed = [Timed(0.0), Timed(0.0)]
    for which in (0, 1) if block % 2 == 0 else (1, 0):
        empty_s = blank.time(pair[which].batch, f"{seed}/blank") if blank else 0.0
        elapsed = pair[which].time(seed, awake=awake)
        if isinstance(elapsed, Fault):
            return elapsed
        timed[which] = Timed(elapsed, empty_s)
    return timed


def _size_batch(
    contender: Contender, task: Task, case: Case, effort: Effort, overhead_s: float
) -> Fault | None:
    """Find out roughly how long a call takes, then set up a batch of the right length.

    One call tells where it takes much longer than the constant of a batch; otherwise a few do.
    """
    calls = 1
    while True:
        fault = contender.setup(case, calls)
        seconds = fault or contender.time(f"{task.seed}/size/{calls}")
        if isinstance(seconds, Fault):
            return seconds
        per_call = max(seconds - overhead_s, 1e-7) / calls
        wanted = choose_calls(task, case, per_call, effort)
        if wanted <= calls:
            return None if wanted == calls else contender.setup(case, wanted)
        if seconds > _CLEAR * overhead_s:
            return contender.setup(case, wanted)
        calls = min(wanted, calls * _FEW_CALLS)


def _enough(samples: Samples, spent: float, effort: Effort) -> bool:
    blocks = len(samples[0])
    if blocks < effort.min_blocks:
        return False
    if blocks >= effort.max_blocks:
        return True
    speedup = ratio_interval(samples[1], samples[0])
    half = speedup.high / speedup.value - 1
    if half <= effort.tight:
        return True
    return spent > (effort.patience_s if half > effort.wide else effort.budget_s)


def _measurement(
    task: Task,
    case: Case,
    pair: tuple[Contender, Contender],
    samples: Samples,
) -> Measurement:
    problem = task.problem
    submission, baseline = pair
    own_blank, baseline_blank = (lower_quartile([one.blank_s for one in s]) for s in samples)
    return Measurement(
        spec=case.spec,
        time_s=time_interval(samples[0]),
        baseline_s=time_interval(samples[1]),
        speedup=ratio_interval(samples[1], samples[0]),
        calls_per_batch=submission.calls,
        captured=submission.captured,
        kernels=submission.session.kernels,
        baseline_kernels=baseline.session.kernels,
        overhead_s=own_blank * submission.calls,
        baseline_overhead_s=baseline_blank * baseline.calls,
        samples_s=tuple(max(one.batch_s - own_blank, LEAST_S) for one in samples[0]),
        baseline_samples_s=tuple(max(one.batch_s - baseline_blank, LEAST_S) for one in samples[1]),
        flops=problem.evaluate(problem.flops, case.values, task.dtype) if problem.flops else None,
        bytes=problem.evaluate(problem.bytes, case.values, task.dtype) if problem.bytes else None,
    )


def with_baseline(
    measured: Sequence[Measurement], name: str, beside: Sequence[Measurement]
) -> tuple[Measurement, ...]:
    """``measured`` with what a further baseline took, shape by shape.

    ``beside`` are the measurements of the same submission in turns with that baseline.
    """
    return tuple(
        first.model_copy(update={"others": (*first.others, _baseline_time(name, second))})
        for first, second in zip(measured, beside, strict=True)
    )


def _baseline_time(name: str, measured: Measurement) -> BaselineTime:
    return BaselineTime(
        baseline=name,
        time_s=measured.baseline_s,
        speedup=measured.speedup,
        kernels=measured.baseline_kernels,
        samples_s=measured.baseline_samples_s,
        submission_samples_s=measured.samples_s,
    )
