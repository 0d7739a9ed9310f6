"""The audit of overlap: calls of a batch must run one after the other.

Batches that do not count, mixed among those that do, are looked at while they are at work
(:mod:`harness.judge.early_reads`). The submission sees the same recording, as many calls and fresh
inputs, so it cannot tell them apart.
"""

import random
import statistics
import time
from collections.abc import Callable, Sequence

from harness.judge.early_reads import MAX_LOOKS, EarlyReads
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing.budget import TimingBudget
from harness.timing.timed_program import TimedProgram

APART_S = 2e-3
"""Seconds between two looks: processes take turns on a GPU in slices that are as long."""
_LEAST_CACHED = 8
"""Looks that tell how much of a call's inputs is in the cache before its turn, at least."""
_SHARE = 1 / 3
"""After how many of the blocks a batch is looked at."""


class OverlapAudit:
    """Looks at batches of those ``programs`` that are not trusted, on one shape."""

    def __init__(
        self, programs: Sequence[TimedProgram], task: Task, case: Case, budget: TimingBudget
    ) -> None:
        looked_at = task.device.captures_graphs and budget.min_looks > 0
        self._watched = [_Watched(p, task, case) for p in programs if looked_at and not p.trusted]
        self._budget = budget
        self._secret = random.SystemRandom()
        self.spent_s = 0.0
        """Seconds that it took so far."""

    @property
    def looks(self) -> int:
        """How many looks at calls at work have seen none that had read its inputs early."""
        return min((each.looks for each in self._watched), default=0)

    @property
    def cached_ahead(self) -> float | None:
        """Mean part of a call's inputs that was in the cache before its turn; None if not known.

        The largest of all programs'.
        """
        cached = [each.cached for each in self._watched if len(each.cached) >= _LEAST_CACHED]
        return max(map(statistics.fmean, cached), default=None)

    def after_block(self) -> Fault | None:
        """Look at a batch of each, now and then; the fault of a call that read its inputs early.

        Raises:
            ProblemError: the reference is wrong.
        """
        return self._look() if self._secret.random() < _SHARE else None

    def finish(self) -> Fault | None:
        """Go on until there are looks enough, or no more time; likewise."""
        while self._watched and self.looks < self._budget.min_looks:
            if (fault := self._look()) is not None:
                return fault
            if self.spent_s > self._budget.overlap_s or not any(w.possible for w in self._watched):
                break
        return None

    def _look(self) -> Fault | None:
        start = time.perf_counter()
        try:
            for each in self._watched:
                if each.looks < self._budget.min_looks and (fault := each.look()) is not None:
                    return fault
            return None
        finally:
            self.spent_s += time.perf_counter() - start


class _Watched:
    """One program, and the looks at its batches so far."""

    def __init__(self, program: TimedProgram, task: Task, case: Case) -> None:
        self.looks = 0
        self.possible = True
        self._program = program
        self._task = task
        self._case = case
        self._batches = 0
        self.cached: list[float] = []
        self._reads: EarlyReads | None = None

    def look(self) -> Fault | None:
        """Run a batch on fresh inputs, and look at it."""
        program = self._program
        if self._reads is None or self._reads.batch is not program.batch:
            self._reads = None  # frees its memory
            self._reads = EarlyReads(self._task, self._case, program.batch)
        reads, self.possible = self._reads, self._reads.possible
        if not reads.possible:
            return None
        self._batches += 1
        seed = f"{self._task.seed}/{self._case.spec}/overlap/{self._batches}"
        reads.prepare(f"{seed}/others")
        fault = program.watch(reads, seed, _looker(reads, program.estimated_call_s * program.calls))
        if fault is not None:
            return fault
        found = reads.found()
        self.looks += found.looks
        self.cached += found.cached
        if found.early is None:
            return None
        message = (
            f"call {found.early + 1} of {program.calls} had read its inputs before call "
            f"{found.early} had ended: calls must run one after the other, as if each waited for "
            "the one before"
        )
        return Fault(Verdict.REJECTED, message, whose=program.name)


def _looker(reads: EarlyReads, batch_s: float) -> Callable[[float], None]:
    """Looks once in each stretch of a batch, at a secret time."""
    count = max(1, min(MAX_LOOKS, int(batch_s / APART_S)))
    secret = random.SystemRandom()
    moments = [(number + secret.random()) * batch_s / count for number in reversed(range(count))]

    def during(elapsed_s: float) -> None:
        if moments and elapsed_s >= moments[-1]:
            moments.pop()
            reads.look()

    return during
