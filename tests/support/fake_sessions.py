"""Sessions and blank batches by a clock that is made up, for tests of measuring."""

import math
from collections.abc import Iterator
from typing import Any, cast

from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session
from harness.timing.budget import TimingBudget
from harness.timing.timed_program import TimedProgram

CASE = Case(sizes={"n": 50}, scalars={"s": 0.5})
BUDGET = TimingBudget(warm_s=0.0, batch_s=0.02, min_blocks=5, max_blocks=12, isolated_blocks=0)
FAULT = Fault(Verdict.RUNTIME_ERROR, "no luck")


class FakeSession:
    """Takes a constant and so much per call, by a clock that is made up; can fail at a point."""

    kernels: float | None = None
    copied: int | None = None
    probes = (0.0, 0.0)

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
        self.closed = False

    def map(self, arena: Any) -> Fault | None:
        self.arena = arena
        return FAULT if self.fails == "map" else None

    def prepare(self, batch: Any, plan: Any) -> bool | Fault:
        self.plan = plan
        return FAULT if self.fails == "prepare" else self.captures and plan.capture

    def run(self, batch: Any, seed: str, *, stop: bool = True) -> float | Fault:
        batch.fill(seed)
        x, y = batch.layout.slots
        if self.writes:
            batch._view(batch._bytes, y).copy_(batch._view(batch._bytes, x) + 0.5)
        self.batches.append((batch.layout.calls, seed))
        if self.fails == "run":
            return FAULT
        factor = math.exp(next(self.noise)) if self.noise else 1.0
        return self.constant + self.per_call * batch.layout.calls * factor

    def close(self) -> None:
        self.closed = True


class FakeBlank:
    """What a batch costs, by a clock that is made up; remembers what was filled.

    In ``settled`` is how often batches had been filled whenever one counted for nothing.
    """

    def __init__(self, batch_s: float) -> None:
        self.batch_s = batch_s
        self.after_s = 0.0
        self.filled: list[tuple[int, str]] = []
        self.settled: list[int] = []
        self.lasting_s: list[float] = []

    def warm_up(self, seed: str) -> None:
        self.settled.append(len(self.filled))

    def started_early_fault(self) -> Fault | None:
        return None

    def time(self, batch: Any, seed: str, lasting_s: float) -> float:
        self.filled.append((batch.layout.calls, seed))
        self.lasting_s.append(lasting_s)
        return self.batch_s


def contender(task: Task, session: FakeSession, *, trusted: bool = False) -> TimedProgram:
    return TimedProgram(cast(Session, session), task, trusted=trusted, capture=False)
