"""Time: batches of fresh, checked calls, in turns with the baseline, until the interval is tight.

The method and the measurements it rests on are in docs/measurement.md.
"""

import itertools
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.judge.batch import lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.measurement import BaselineTime, Measurement
from harness.session.fault import Fault
from harness.timing.budget import TimingBudget
from harness.timing.isolated import check_isolated_call
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.statistics import (
    MIN_S,
    Timed,
    lower_quartile,
    net,
    ratio_interval,
    time_interval,
)
from harness.timing.timed_program import Pair, TimedProgram, in_turns

Samples = tuple[list[Timed], list[Timed]]
"""Per call, one per block: the submission's, and the baseline's in the same blocks."""

_FEW_CALLS = 16
_CLEAR = 5.0
_ATTEMPTS = 2
_ALIKE = 2.0
"""Two batches of as many calls have one blank batch where neither lasts so much longer."""
_SHORT = 2.0
"""Where a batch should have had more than so many times the calls, it is too short to count."""


def choose_calls(seconds: float, all_s: float, room: int, budget: TimingBudget) -> int:
    """Calls per batch: long enough to drown the constant, no more than there is ``room`` for.

    Nor many more than there is time for, where a call takes ``all_s`` with everything around it.
    """
    seconds = max(seconds, 1e-7)
    affordable = max(budget.max_block_s / max(all_s, 1e-7), budget.min_batch_s / seconds)
    wanted = math.ceil(min(budget.batch_s / seconds, affordable))
    return max(1, min(wanted, room, budget.max_calls))


def measure_shape(
    task: Task,
    case: Case,
    submission: TimedProgram,
    baseline: TimedProgram,
    budget: TimingBudget,
    blank: OverheadProbe | None,
    told: Callable[[Samples], None],
) -> Measurement | Fault:
    """Time one shape: submission and baseline in turns (A B, B A, …), then audit what was timed.

    ``blank`` is None where what a batch costs beyond its calls is not known. ``told`` is called
    after each block that counts, with all there are so far. A block does not count where something
    was at work on the device before its inputs were revealed.

    How many calls a batch needs follows from a time that nobody is held to yet: who is slow just
    then gets batches so short that a call seems to take less than it does. So it must follow from
    the times that count as well; else they are taken again, with as many calls as they ask for.
    """
    pair = (submission, baseline)
    room = _room(pair, task, case, budget)
    launch_overhead_s = blank.batch_s if blank else 0.0
    for contender in pair:
        fault = _size_batch(contender, task, case, room, budget, launch_overhead_s)
        if fault is not None:
            return fault
    samples: Samples = ([], [])
    start = time.perf_counter()
    late = 0
    for block in itertools.count():
        began = time.perf_counter()
        seed = f"{task.seed}/{case.spec}/{block}"
        timed = _block(pair, block, seed, blank, budget)
        if isinstance(timed, Fault):
            return timed
        submission.elapsed_s += time.perf_counter() - began
        if submission.elapsed_s < budget.warm_s:
            start = time.perf_counter()
            continue
        if timed.early is not None:
            late += 1
            if late < budget.max_blocks:
                continue
            return timed.early
        for which, one in enumerate(timed.each):
            samples[which].append(one)
        told(samples)
        if not _enough(samples, time.perf_counter() - start, budget):
            continue
        if blank is None or not (longer := _too_short(pair, samples, room, budget)):
            break
        for contender, calls in longer:
            if (fault := contender.setup(case, calls)) is not None:
                return fault
        samples, start = ([], []), time.perf_counter()
    measured = _measurement(task, case, pair, samples)
    if (fault := submission.idle_fault()) is not None:
        return fault
    if budget.isolated_blocks == 0 or measured.calls_per_batch == 1:
        return measured
    return check_isolated_call(pair, task, case, measured, budget)


class _Block(NamedTuple):
    """What one batch of each took; ``early`` is a fault if the device was at work before one."""

    each: list[Timed]
    early: Fault | None


def _block(
    pair: Pair, block: int, seed: str, blank: OverheadProbe | None, budget: TimingBudget
) -> _Block | Fault:
    """One batch of each, after a blank one on its buffers, or on such as are like them."""
    timed = [Timed(0.0), Timed(0.0)]
    early: Fault | None = None
    lasting_s = [min(each.estimated_call_s * each.calls, budget.null_batch_s) for each in pair]
    alike = pair[0].calls == pair[1].calls and max(lasting_s) <= _ALIKE * min(lasting_s)
    if alike:
        lasting_s = [statistics.fmean(lasting_s)] * 2
    empty_s: float | None = None
    idle_after_s = 0.0
    for which in in_turns(block):
        contender = pair[which]
        if blank is not None:
            blank.warm_up(seed)
            if empty_s is None or not alike:
                empty_s = blank.time(contender.batch, f"{seed}/blank", lasting_s[which])
                idle_after_s = blank.after_s
                early = early or blank.started_early_fault()
        batch_s = contender.time(seed, idle_after_s=idle_after_s)
        if isinstance(batch_s, Fault):
            return batch_s
        early = early or contender.started_early_fault()
        contender.estimated_call_s = max(batch_s - (empty_s or 0.0), 0.0) / contender.calls
        timed[which] = Timed(batch_s / contender.calls, (empty_s or 0.0) / contender.calls)
    return _Block(timed, early)


def _room(pair: Pair, task: Task, case: Case, budget: TimingBudget) -> int:
    """For how many calls of each there is memory, whatever was laid out before."""
    held = sum(contender.vacate() for contender in pair)
    per_call = lay_out(task, case, 1).size
    return int(budget.memory_share * (held + task.device.free_bytes()) / per_call)


def _size_batch(
    contender: TimedProgram,
    task: Task,
    case: Case,
    room: int,
    budget: TimingBudget,
    launch_overhead_s: float,
) -> Fault | None:
    """Find out roughly how long a call takes, then set up a batch of the right length.

    One call tells where it takes much longer than the constant of a batch; otherwise a few do.
    """
    calls = 1
    while True:
        if (fault := contender.setup(case, calls)) is not None:
            return fault
        tried = _try_size(contender, f"{task.seed}/size/{calls}", room, budget, launch_overhead_s)
        if isinstance(tried, Fault):
            return tried
        seconds, wanted = tried
        if wanted <= calls:
            return None if wanted == calls else contender.setup(case, wanted)
        if seconds > _CLEAR * launch_overhead_s:
            return contender.setup(case, wanted)
        calls = min(wanted, calls * _FEW_CALLS)


def _try_size(
    contender: TimedProgram, seed: str, room: int, budget: TimingBudget, launch_overhead_s: float
) -> tuple[float, int] | Fault:
    """Seconds of the batch as it is laid out, and how many calls one of the right length has.

    What is around a call takes longer the first time, when checks are recorded and libraries
    loaded: where that would make batches shorter it is seen twice.
    """
    all_s = math.inf
    attempt = 0
    while True:
        seconds = contender.time(f"{seed}/{attempt}")
        if isinstance(seconds, Fault):
            return seconds
        attempt += 1
        per_call = max(seconds - launch_overhead_s, 1e-7) / contender.calls
        contender.estimated_call_s = per_call
        all_s = min(all_s, contender.round_trip_s)
        wanted = choose_calls(per_call, all_s, room, budget)
        if attempt == _ATTEMPTS or wanted == choose_calls(per_call, 0.0, room, budget):
            return seconds, wanted


def _too_short(
    pair: Pair, samples: Samples, room: int, budget: TimingBudget
) -> list[tuple[TimedProgram, int]]:
    """Whose batches have far fewer calls than their times ask for, and how many that are."""
    wanted = [
        choose_calls(net(times), contender.round_trip_s, room, budget)
        for contender, times in zip(pair, samples, strict=True)
    ]
    return [
        (contender, calls)
        for contender, calls in zip(pair, wanted, strict=True)
        if calls > _SHORT * contender.calls
    ]


def _enough(samples: Samples, spent: float, budget: TimingBudget) -> bool:
    blocks = len(samples[0])
    if blocks < budget.min_blocks:
        return False
    if blocks >= budget.max_blocks:
        return True
    speedup = ratio_interval(samples[1], samples[0])
    half = speedup.high / speedup.value - 1
    if half <= budget.target_rel_ci:
        return True
    return spent > (budget.max_s if half > budget.extend_rel_ci else budget.budget_s)


def _measurement(
    task: Task,
    case: Case,
    pair: Pair,
    samples: Samples,
) -> Measurement:
    work = task.problem.work(case, task.dtype)
    submission, baseline = pair
    own_blank, baseline_blank = (lower_quartile([one.null_batch_s for one in s]) for s in samples)
    return Measurement(
        spec=case.spec,
        time_s=time_interval(samples[0]),
        baseline_s=time_interval(samples[1]),
        speedup=ratio_interval(samples[1], samples[0]),
        calls_per_batch=submission.calls,
        captured=submission.captured,
        kernels=submission.session.kernels,
        copied_outputs=submission.session.copied,
        baseline_kernels=baseline.session.kernels,
        launch_overhead_s=own_blank * submission.calls,
        baseline_launch_overhead_s=baseline_blank * baseline.calls,
        samples_s=tuple(max(one.batch_s - own_blank, MIN_S) for one in samples[0]),
        baseline_samples_s=tuple(max(one.batch_s - baseline_blank, MIN_S) for one in samples[1]),
        flops=work.flops,
        bytes=work.bytes,
    )


def with_baseline(
    measured: Sequence[Measurement], name: str, beside: Sequence[Measurement]
) -> tuple[Measurement, ...]:
    """``measured`` with what a further baseline took, shape by shape.

    ``beside`` are the measurements of the same submission in turns with that baseline.
    """
    return tuple(
        first.model_copy(
            update={"other_baselines": (*first.other_baselines, _baseline_time(name, second))}
        )
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
