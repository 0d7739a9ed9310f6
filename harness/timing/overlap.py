"""The audit of overlap: calls of a batch must run one after the other.

Batches that do not count, mixed among those that do, are looked at while they are at work
(:mod:`harness.judge.early_reads`). The submission sees the same recording, as many calls and fresh
inputs, so it cannot tell them apart.
"""

import random
import statistics
import time
from collections.abc import Sequence
from typing import NamedTuple

from harness.judge.early_reads import MAX_LOOKS, EarlyReads
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.measurement import Measurement
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.text.numbers import counted, seconds
from harness.timing.audit import ONE_BY_ONE
from harness.timing.budget import TimingBudget
from harness.timing.timed_program import TimedProgram

SLICE_S, APART_S = 2.3e-3, 2.6e-3
"""Seconds from *go* to the first look, and from one look to the next, at least.

Processes take turns on a GPU in slices of 2 ms. A look that comes within one waits for its end, so
that it would fall on the same place of each batch; one that comes later has its turn at once
(seen on H200)."""
_SPREAD_S = 1e-3
"""By up to so many seconds two looks are further apart: nobody knows on which call they fall."""
_AHEAD, _AHEAD_S, _LEAST_SEEN = 1.1, 0.3e-3, 3
"""Calls that are done at the first look may take so many times as long among many as has passed
since *go*, and so many seconds more, in the median of so many batches at least. Those of honest
batches are some 0.2 ms behind: launching comes first. Under a power cap the first calls may be
quicker, for the clock follows the load."""
_LEAST_CACHED = 3
"""Looks that tell how much of a call's inputs is in the cache before its turn, at least: one is off
by a hundredth (standard deviation of 1370 at honest calls on an H100; 0.036 at most)."""
_SHARE = 1 / 3
"""After how many of the blocks a batch is looked at."""
_AGAIN, AGAIN_S = 128, 6.0
"""Looks that a call which had read its inputs early has to be seen again in, and seconds for them.

No honest call is seen so, by all that is known. Calls that overlap are seen again soon."""


class OverlapAudit:
    """Looks at batches of those ``programs`` that are not trusted, on one shape."""

    def __init__(
        self, programs: Sequence[TimedProgram], task: Task, case: Case, budget: TimingBudget
    ) -> None:
        looked_at = task.device.captures_graphs and budget.min_looks > 0
        self._watched = [
            _Watched(number, program, task, case)
            for number, program in enumerate(programs)
            if looked_at and not program.trusted
        ]
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

    def told(self, measured: Measurement) -> Measurement:
        """``measured`` with what was seen so far."""
        seen = {"overlap_looks": self.looks, "cached_ahead": self.cached_ahead}
        return measured.model_copy(update=seen)

    def after_block(self) -> Fault | None:
        """Look at a batch of each, now and then; the fault of calls seen to read inputs early.

        Raises:
            ProblemError: the reference is wrong.
        """
        return self._look() if self._secret.random() < _SHARE else None

    def finish(self, call_s: Sequence[float], more_s: float = 0.0) -> Fault | None:
        """Go on until there are looks enough, or no more time but ``more_s``; likewise.

        ``call_s`` are the seconds of a call of each program, by all times that were taken.
        What was seen once and cannot be looked for again is a fault as well; so are calls at the
        beginning of batches that take less time than others, where no look can come.
        """
        while any(each.wanted(self._budget.min_looks) for each in self._watched):
            if (fault := self._look()) is not None:
                return fault
            suspected = any(each.suspicion for each in self._watched)
            most_s = self._budget.overlap_s + (AGAIN_S if suspected else more_s)
            if self.spent_s > most_s or not any(w.possible for w in self._watched):
                break
        faults = (w.suspicion or w.ahead_fault(call_s[w.number]) for w in self._watched)
        return next(filter(None, faults), None)

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

    def __init__(self, number: int, program: TimedProgram, task: Task, case: Case) -> None:
        self.number = number
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
        self._progress: list[_Progress] = []
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
        looker = _Looker(reads, program.estimated_call_s * program.calls)
        if (fault := program.watch(reads, seed, looker)) is not None:
            return fault
        found = reads.found()
        self.looks += found.looks
        if found.progress is not None and not (program.clocks and program.clocks.capped):
            after_s = found.progress.at_s - looker.go_s
            self._progress.append(_Progress(found.progress.done, after_s))
        self.cached += found.cached
        if found.early is not None:
            seen_before, self._again = self.suspicion is not None, _AGAIN
            self.suspicion = _early_fault(program, found.early)
            return self.suspicion if seen_before else None
        self._again -= found.looks
        if self._again <= 0:
            self.suspicion = None
        return None

    def ahead_fault(self, call_s: float) -> Fault | None:
        """The fault of batches whose first calls were done sooner than others of ``call_s``."""
        seen = self._progress
        excess = [each.done * call_s - _AHEAD * each.after_s for each in seen]
        if len(seen) < _LEAST_SEEN or statistics.median(excess) <= _AHEAD_S:
            return None
        # The one in the middle, of an even number the higher.
        one = seen[sorted(range(len(seen)), key=excess.__getitem__)[len(seen) // 2]]
        message = (
            f"{seconds(one.after_s)} after a batch had begun it was beyond "
            f"{counted(one.done, 'call')}, and so many take {seconds(one.done * call_s)} among "
            f"many: {ONE_BY_ONE}"
        )
        return Fault(Verdict.REJECTED, message, shared=True, whose=self._program.name)


class _Progress(NamedTuple):
    """How many calls of a batch were ``done``, ``after_s`` seconds after *go*."""

    done: int
    after_s: float


def _early_fault(program: TimedProgram, call: int) -> Fault:
    message = (
        f"call {call + 1} of {program.calls} had read its inputs before call {call} had ended: "
        f"{ONE_BY_ONE}"
    )
    return Fault(Verdict.REJECTED, message, shared=True, whose=program.name)


class _Looker:
    """Looks at a batch that lasts about ``batch_s``, again and again at secret times."""

    def __init__(self, reads: EarlyReads, batch_s: float) -> None:
        self.go_s = 0.0
        """When *go* was, by :func:`time.perf_counter`."""
        self._reads = reads
        self._secret = random.SystemRandom()
        self._apart_s = max(APART_S, batch_s / MAX_LOOKS)
        # Anywhere from the first slice's end on, as if a look had come before that.
        spread_s = min(self._apart_s + _SPREAD_S, max(batch_s - SLICE_S, 0.0))
        self._next_s = min(SLICE_S, batch_s) + self._secret.random() * spread_s

    def __call__(self, elapsed_s: float) -> None:
        """Look if it is time, ``elapsed_s`` seconds after *go*."""
        if elapsed_s < self._next_s:
            return
        self.go_s = self.go_s or time.perf_counter() - elapsed_s
        self._reads.look()
        self._next_s = elapsed_s + self._apart_s + self._secret.random() * _SPREAD_S
