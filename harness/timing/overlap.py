"""The audit of overlap: calls of a batch must run one after the other.

Batches that do not count are looked at while they are at work (:mod:`harness.judge.early_reads`).
"""

import itertools
import math
import random
import time
from collections.abc import Callable

from harness.judge.early_reads import MAX_LOOKS, EarlyReads
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing.budget import TimingBudget
from harness.timing.timed_program import TimedProgram

APART_S = 2e-3
"""Seconds between two looks: processes take turns on a GPU in slices that are as long."""
_MIN_BATCHES = 2
_LEAST_LOOKS = 4.0
"""A batch lasts for so many looks at least: it gets more calls where it is shorter."""
_MAX_CALLS = 8000


def check_overlap(
    program: TimedProgram,
    task: Task,
    case: Case,
    call_s: float,
    max_calls: int,
    budget: TimingBudget,
) -> int | Fault:
    """How many looks at calls at work saw none that had read its inputs early; or the fault.

    ``program`` has its timed batch laid out; a call takes ``call_s`` seconds, and ``max_calls`` of
    them fit in memory. 0 where there is nothing to look at.
    """
    if not task.device.captures_graphs:
        return 0
    # Of the shortest calls a batch is over before it can be looked at.
    wanted = math.ceil(_LEAST_LOOKS * APART_S / max(call_s, 1e-7))
    if program.calls == budget.max_calls < wanted:
        fault = program.setup(case, min(wanted, max_calls, _MAX_CALLS))
        if fault is not None:
            return fault
    reads = EarlyReads(task, case, program.batch)
    if not reads.possible:
        return 0
    looks = 0
    start = time.perf_counter()
    for number in itertools.count(1):
        seed = f"{task.seed}/{case.spec}/overlap/{number}"
        reads.prepare(f"{seed}/others")
        fault = program.watch(seed, _looker(reads, program.calls * call_s))
        if fault is not None:
            return fault
        found = reads.found()
        if found.early is not None:
            return _early_fault(found.early, program.calls, program.name)
        looks += found.looks
        spent_s = time.perf_counter() - start
        if number >= _MIN_BATCHES and (looks >= budget.min_looks or spent_s > budget.overlap_s):
            break
    return looks


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


def _early_fault(call: int, calls: int, whose: str) -> Fault:
    message = (
        f"call {call + 1} of {calls} had read its inputs before call {call} had ended: calls must "
        "run one after the other, as if each waited for the one before"
    )
    return Fault(Verdict.REJECTED, message, whose=whose)
