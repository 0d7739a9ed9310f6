"""A call in a batch of its own, and what follows where it takes longer there than among many.

Overlapping calls do, for one alone has nothing to overlap with. So may honest ones, whose additions
to few words of memory wait for one another: looks at calls at work tell the two apart.
"""

import time

from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.measurement import Interval, Measurement
from harness.session.fault import Fault
from harness.timing import audit
from harness.timing.audit import IdleBaseline, IdleMonitor
from harness.timing.budget import TimingBudget
from harness.timing.statistics import difference_interval
from harness.timing.timed_program import Pair, in_turns

_WARM_UP_BLOCKS = 2
_MAX_RATIO = 1.02
"""Plain calls that take longer by more than this in isolation may overlap among many."""
_ATTEMPTS = 3
_PLAIN = 2
"""Times as many blocks are the least for plain calls, whose isolated time counts itself."""


def time_isolated_call(
    pair: Pair, task: Task, case: Case, measured: Measurement, budget: TimingBudget
) -> Measurement | Fault:
    """``measured`` with the time of an isolated call.

    What a host adds to the batches of one process alone can last for a second. So a call that takes
    too long is timed again, and the shortest time counts: overlapping calls are longer each time.
    """
    shortest: Interval | None = None
    for attempt in range(_ATTEMPTS):
        isolated = _time_isolated(pair, task, case, measured, budget, attempt)
        if isinstance(isolated, Fault):
            return isolated
        if shortest is None or isolated.low < shortest.low:
            shortest = isolated
        measured = measured.model_copy(update={"isolated_s": shortest})
        if not audit.linearity_doubt(measured):
            break
    return measured


def _time_isolated(
    pair: Pair, task: Task, case: Case, measured: Measurement, budget: TimingBudget, attempt: int
) -> Interval | Fault:
    """Seconds that one call takes in a batch of its own.

    The baseline's calls, which are honest, take about as long isolated as among many, so what its
    batches take beyond that is the constant of these very blocks: one that was measured elsewhere
    is off by up to 60 µs. Likewise its probes are what is normal here, but those of an idle device:
    a block does not count where something kept the baseline waiting.
    """
    baseline = pair[1]
    for program in pair:
        # Outputs of both are checked, so that the host is as busy around the one as the other.
        if (fault := program.setup(case, 1, check_outputs=True)) is not None:
            return fault
    seed = f"{task.seed}/{case.spec}/isolated/{attempt}"
    times: tuple[list[float], list[float]] = ([], [])
    probes: tuple[list[IdleBaseline], list[IdleBaseline]] = ([], [])
    disturbed: Fault | None = None
    # Where looks have settled it already, this is a second opinion.
    within_s = budget.isolated_s / (3 if measured.captured and audit.looked_at(measured) else 1)
    least = budget.min_isolated * (1 if measured.captured else _PLAIN)
    start = time.perf_counter()
    for block in range(_WARM_UP_BLOCKS + budget.isolated_blocks):
        block_s = [0.0, 0.0]
        for which in in_turns(block):
            # Awake: continuing a stopped process scatters by 200 µs, which drowns a short call.
            seconds = pair[which].time(f"{seed}/{block}", awake=True)
            if isinstance(seconds, Fault):
                return seconds
            block_s[which] = seconds
        if (early := baseline.started_early_fault()) is not None:
            disturbed = early
        elif block >= _WARM_UP_BLOCKS:
            for which, program in enumerate(pair):
                times[which].append(block_s[which])
                probes[which].append(IdleBaseline(*program.session.probes))
        if len(times[0]) < least:
            continue
        if time.perf_counter() - start > within_s:
            break
        if measured.captured and _settled(measured, _isolated_s(measured, times, probes)):
            break
    if disturbed is not None and len(times[0]) < least:
        return disturbed
    return _isolated_s(measured, times, probes)


def _isolated_s(
    measured: Measurement,
    times: tuple[list[float], list[float]],
    probes: tuple[list[IdleBaseline], list[IdleBaseline]],
) -> Interval:
    """Seconds of an isolated call, by these times of both and the judge's probes around them."""
    # The baseline's probes are what is normal around batches of one call.
    idle = IdleMonitor(IdleBaseline.median(probes[1]))
    unseen = [idle.note(seen.before_s, seen.after_s, awake=True) for seen in probes[0]]
    isolated = [seconds + more for seconds, more in zip(times[0], unseen, strict=True)]
    return difference_interval(isolated, times[1]).plus(measured.baseline_s.value)


def _settled(measured: Measurement, isolated: Interval) -> bool:
    """Whether it is beyond doubt that a recorded call takes too long isolated, or does not."""
    limit_s = audit.longest_isolated_s(measured)
    return isolated.high <= limit_s or isolated.low > limit_s + audit.DOUBT_S


def slower_where_in_doubt(measured: Measurement) -> Measurement | Fault:
    """What counts where a call takes longer isolated than among many: the longer time, or a fault.

    Plain calls may overlap: honest ones their launch with the kernel before, others themselves.
    From outside these cannot be told apart. In a graph that must not be: it is a fault, unless
    looks have settled that calls do not overlap. Then memory is the cause: additions to the few
    words of one call, all at the same addresses, may wait longer than those of many calls do.
    """
    assert measured.isolated_s is not None
    if measured.captured:
        fault = audit.linearity_fault(measured)
        if fault is None or not audit.looked_at(measured):
            return fault or measured
    # The baseline's first call was too long by about this, and made ours look as much too short.
    factor = (measured.isolated_s.value + audit.BASELINE_FIRST_S) / measured.time_s.value
    if factor <= _MAX_RATIO:
        return measured
    time_s, speedup = measured.time_s.times(factor), measured.speedup.times(1 / factor)
    return measured.model_copy(update={"time_s": time_s, "speedup": speedup})
