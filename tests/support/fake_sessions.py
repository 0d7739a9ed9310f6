"""Sessions and an overhead probe by a clock that is made up, for tests of timing."""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, cast

from harness.device.base import Monitor
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.timing.audit import IdleBaseline
from harness.timing.budget import TimingBudget
from harness.timing.timed_program import TimedProgram

CASE = Case(sizes={"n": 50}, scalars={"s": 0.5})
BUDGET = TimingBudget(
    batch_s=0.02,
    max_block_s=math.inf,  # times are made up: what the checks really take is no matter
    null_batch_s=math.inf,
    warm_s=0.0,
    min_blocks=5,
    null_blocks=6,
    max_blocks=12,
    isolated_blocks=0,
)
FAULT = Fault(Verdict.RUNTIME_ERROR, "no luck")


class FakeSession:
    """Takes a constant and so much per call, by a clock that is made up; can fail at a point."""

    kernels: float | None = None
    copied: int | None = None
    returned: str | None = None
    probes = (0.0, 0.0)
    processes = 1
    took_s = 0.0
    ready_after = 2
    """Steps of what is done meanwhile, until it is ready."""

    def __init__(
        self,
        per_call: float = 1e-3,
        *,
        constant: float = 0.0,
        noise: Iterator[float] | None = None,
        captures: bool = False,
        fails: str = "",
        writes: bool = True,
    ) -> None:
        self.per_call, self.constant, self.noise = per_call, constant, noise
        self.captures, self.fails, self.writes = captures, fails, writes
        self.batches: list[tuple[int, str]] = []
        self.expected: list[float] = []
        """Of each batch, the seconds that the judge expects."""
        self.closed = False

    def running(self) -> int:
        return self.processes

    def map(self, arena: Any) -> Fault | None:
        self.arena = arena
        return FAULT if self.fails == "map" else None

    def unmap(self) -> Fault | None:
        return None

    def prepare(self, batch: Any, plan: Any, meanwhile: Iterable[None] = ()) -> bool | Fault:
        self.plan = plan
        for _ in islice(meanwhile, self.ready_after):
            pass
        return FAULT if self.fails == "prepare" else self.captures and plan.capture

    def run(
        self,
        batch: Any,
        seed: str,
        *,
        stop: bool = True,
        cpu: int | None = None,
        during: Callable[[float], None] | None = None,
        expected_s: float = 0.0,
        probed: bool = True,
    ) -> float | Fault:
        self.expected.append(expected_s)
        batch.fill(seed)
        if self.writes:
            # What looks at a batch is filled in its place.
            self.make_calls(getattr(batch, "batch", batch), during or (lambda _: None))
        if probed:
            batch.take_receipt()
        self.batches.append((batch.layout.calls, seed))
        if self.fails == "run":
            return FAULT
        factor = math.exp(next(self.noise)) if self.noise else 1.0
        return self.constant + self.per_call * batch.layout.calls * factor

    def make_calls(self, batch: Any, during: Callable[[float], None]) -> None:
        """Make them one after the other; ``during`` is called in the middle of each."""
        x, y = (batch.layout.elements(batch._bytes, slots) for slots in batch.layout.slots)
        passed_s = 0.0
        for call in range(batch.layout.calls):
            half, took_s = len(x[call]) // 2, self.call_s(call)
            y[call, :half] = x[call, :half] + 0.5
            during(passed_s + took_s / 2)
            y[call, half:] = x[call, half:] + 0.5
            passed_s += took_s

    def call_s(self, _number: int) -> float:
        """Seconds of one call of a batch."""
        return self.per_call

    def close(self) -> None:
        self.closed = True


class FakeOverheadProbe:
    """The overhead of a batch, by a clock that is made up; remembers which batches were filled.

    In ``warmed_up`` is how many batches had been filled at each warm-up.
    """

    idle = IdleBaseline()

    def __init__(self, batch_s: float) -> None:
        self.batch_s = batch_s
        self.after_s = 0.0
        self.filled: list[tuple[int, str]] = []
        self.warmed_up: list[int] = []
        self.waits_s: list[float] = []

    def warm_up(self, seed: str, cpu: int | None) -> None:
        self.warmed_up.append(len(self.filled))

    def started_early_fault(self) -> Fault | None:
        return None

    def time(self, batch: Any, seed: str, cpu: int | None, wait_s: float) -> float:
        self.filled.append((batch.layout.calls, seed))
        self.waits_s.append(wait_s)
        return self.batch_s


def fake_program(
    task: Task,
    session: FakeSession,
    *,
    trusted: bool = False,
    capture: bool = False,
    idle: IdleBaseline | None = None,
    monitor: Monitor | None = None,
) -> TimedProgram:
    """``session`` as the submission that is timed or, ``trusted``, as the baseline beside it."""
    name = "baseline" if trusted else "submission"
    return TimedProgram(
        cast(Session, session),
        task,
        name=name,
        trusted=trusted,
        capture=capture,
        idle=idle,
        monitor=monitor,
    )
