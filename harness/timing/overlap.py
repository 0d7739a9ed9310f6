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
_AGAIN, AGAIN_S = 48, 6.0
"""Looks that a call which had read its inputs early has to be seen again in, and seconds for them.

An honest call was seen so once, on an H100, in one of 59 honest and hostile files, for a reason
that is not known. Calls that overlap are seen again at once."""


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
        """Look at a batch of each, now and then; the fault of calls seen to read inputs early.

        Raises:
            ProblemError: the reference is wrong.
        """
        return self._look() if self._secret.random() < _SHARE else None

    def finish(self) -> Fault | None:
        """Go on until there are looks enough, or no more time; likewise.

        What was seen once and cannot be looked for again is a fault as well.
        """
        while any(each.wanted(self._budget.min_looks) for each in self._watched):
            if (fault := self._look()) is not None:
                return fault
            suspected = any(each.suspicion for each in self._watched)
            most_s = self._budget.overlap_s + (AGAIN_S if suspected else 0.0)
            if self.spent_s > most_s or not any(w.possible for w in self._watched):
                break
        return next((each.suspicion for each in self._watched if each.suspicion), None)

    def _look(self) -> Fault | None:
        start = time.perf_counter()
        try:
            for each in self._watched:
                if each.wanted(self._budget.min_looks) and (fault := each.look()) is not None:
                    return fault
            return None
        finally:
            self.spent_s += time.perf_counter() - start


class _Watched:
    """One program, and the looks at its batches so far."""

    def __init__(self, program: TimedProgram, task: Task, case: Case) -> None:
        self.looks = 0
        self.possible = True
        self.suspicion: Fault | None = None
        """Of a call that read its inputs early, until it is seen again, or surely is not."""
        self._again = 0
        """Looks without another such call that put the suspicion to rest."""
        self._program = program
        self._task = task
        self._case = case
        self._batches = 0
        self.cached: list[float] = []
        self._reads: EarlyReads | None = None

    def wanted(self, looks: int) -> bool:
        """Whether another batch is to be looked at, if there are to be so many ``looks``."""
        return self.looks < looks or self.suspicion is not None

    def look(self) -> Fault | None:
        """Run a batch on fresh inputs, and look at it; a fault if it is the second to show it."""
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
        if found.early is not None:
            seen_before, self._again = self.suspicion is not None, _AGAIN
            self.suspicion = _early_fault(program, found.early)
            return self.suspicion if seen_before else None
        self._again -= found.looks
        if self._again <= 0:
            self.suspicion = None
        return None


def _early_fault(program: TimedProgram, call: int) -> Fault:
    message = (
        f"call {call + 1} of {program.calls} had read its inputs before call {call} had ended: "
        "calls must run one after the other, as if each waited for the one before"
    )
    return Fault(Verdict.REJECTED, message, shared=True, whose=program.name)


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
