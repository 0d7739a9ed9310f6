"""A call in a batch of its own, and what follows where it takes longer there than among many."""

import time

from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.measurement import Interval, Measurement
from harness.session.fault import Fault
from harness.timing.audit import (
    BASELINE_FIRST_S,
    IdleBaseline,
    IdleMonitor,
    linearity_doubt,
    linearity_fault,
)
from harness.timing.budget import TimingBudget
from harness.timing.statistics import difference_interval
from harness.timing.timed_program import Pair, in_turns

_UNCOUNTED = 2
_AGREE = 1.02
_TRIES = 3


def check_isolated_call(
    pair: Pair, task: Task, case: Case, measured: Measurement, budget: TimingBudget
) -> Measurement | Fault:
    """``measured`` with what a call takes alone, or what follows where that is longer.

    What a host adds to the batches of one process and not to the other's can last for a second.
    So where a lone call takes too long it is timed again, and the shortest time counts: calls that
    overlap are as much longer alone each time.
    """
    alone: Interval | None = None
    for attempt in range(_TRIES):
        again = _time_isolated(pair, task, case, measured, budget, attempt)
        if isinstance(again, Fault):
            return again
        alone = again if alone is None else min(alone, again, key=lambda each: each.low)
        measured = measured.model_copy(update={"isolated_s": alone})
        if not linearity_doubt(measured):
            break
    return _in_doubt_slower(measured)


def _time_isolated(
    pair: Pair, task: Task, case: Case, measured: Measurement, budget: TimingBudget, attempt: int
) -> Interval | Fault:
    """Seconds that one call takes in a batch of its own.

    The baseline's calls, which are honest, take about as long alone as among many, so what its
    batches take beyond that is the constant of these very blocks: one that was measured elsewhere
    is off by up to 60 µs. So are the probes: what the baseline's took is usual here. That must be
    what an idle device takes: a block does not count where something kept the baseline waiting.
    """
    baseline = pair[1]
    for contender in pair:
        if (fault := contender.setup(case, 1, check_outputs=True)) is not None:
            return fault
    seed = f"{task.seed}/{case.spec}/alone/{attempt}"
    times: tuple[list[float], list[float]] = ([], [])
    probes: tuple[list[IdleBaseline], list[IdleBaseline]] = ([], [])
    disturbed: Fault | None = None
    start = time.perf_counter()
    for block in range(_UNCOUNTED + budget.isolated_blocks):
        took_s = [0.0, 0.0]
        for which in in_turns(block):
            contender = pair[which]
            took = contender.time(f"{seed}/{block}", awake=True)
            if isinstance(took, Fault):
                return took
            took_s[which] = took
        if (early := baseline.started_early_fault()) is not None:
            disturbed = early
        elif block >= _UNCOUNTED:
            for which, contender in enumerate(pair):
                times[which].append(took_s[which])
                probes[which].append(IdleBaseline(*contender.session.probes))
        if len(times[0]) >= budget.min_isolated and time.perf_counter() - start > budget.isolated_s:
            break
    if disturbed is not None and len(times[0]) < budget.min_isolated:
        return disturbed
    idleness = IdleMonitor(IdleBaseline.median(probes[1]))
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
    assert measured.isolated_s is not None
    among = measured.time_s.value
    if measured.captured:
        return linearity_fault(measured) or measured
    factor = (measured.isolated_s.value + BASELINE_FIRST_S) / among
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
