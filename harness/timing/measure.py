"""Times one shape: batches of fresh, checked calls in turns with the baseline, until it is sure.

The method and the measurements it rests on are in docs/explanation/measurement.md.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import OutOfMemoryError

from harness.device.base import OutOfDeviceMemory
from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.measurement import BaselineTime, Clocks, Measurement
from harness.session.fault import Fault
from harness.timing.audit import linearity_doubt
from harness.timing.budget import TimingBudget
from harness.timing.clocks import MAX_RETAKEN, BlockClocks, alike, seen
from harness.timing.isolated import slower_where_in_doubt, time_isolated_call
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.null_batches import Null, NullBatches
from harness.timing.overlap import AGAIN_S, OverlapAudit
from harness.timing.sizing import Samples, even_out, most_calls, size_batch, too_short
from harness.timing.statistics import (
    MIN_S,
    Timed,
    lower_quartile,
    net,
    ratio_interval,
    time_interval,
)
from harness.timing.timed_program import CallSize, Pair, TimedProgram, in_turns

_MOST_EARLY = 40
"""Blocks in which the device was at work too early that are a fault, however few are to count: a
host that is disturbed for a moment is none."""


def measure_shape(
    task: Task,
    case: Case,
    submission: TimedProgram,
    baseline: TimedProgram,
    budget: TimingBudget,
    overhead: OverheadProbe | None,
    on_block: Callable[[Samples], None],
) -> Measurement | Fault:
    """Time one shape: submission and baseline in turns (A B, B A, …), then audit the times.

    ``overhead`` is None where launch overhead is not measured. ``on_block`` is called after each
    block that counts, with all samples so far. A block does not count where something was at work
    on the device before its inputs were revealed; nor do the first few in which both programs saw
    different clocks.

    The number of calls in a batch follows from a time that does not count yet: a program that is
    slow just then gets batches so short that a call seems to take less than it does. So the times
    that count must ask for about as many calls; else they are taken again with that number.

    Where memory runs out after all, all is taken again with half as many calls.

    Raises:
        OutOfDeviceMemory: it runs out with one call, too.
    """
    pair = (submission, baseline)
    max_calls = most_calls(pair, task, case, budget)
    while True:
        try:
            return _measure(pair, task, case, max_calls, budget, overhead, on_block)
        except (OutOfDeviceMemory, OutOfMemoryError) as error:
            if max_calls == 1:
                what = f"{case.spec} in {task.dtype} cannot be timed on {task.device.name}"
                why = error.why if isinstance(error, OutOfDeviceMemory) else str(error)
                raise OutOfDeviceMemory(what, why) from None
        # Neither before the error has gone, whose frames hold tensors, nor of one alone: either may
        # hold what the other lacks.
        for program in pair:
            program.make_room()
        max_calls = max(1, min(max_calls // 2, most_calls(pair, task, case, budget)))


def _measure(
    pair: Pair,
    task: Task,
    case: Case,
    max_calls: int,
    budget: TimingBudget,
    overhead: OverheadProbe | None,
    on_block: Callable[[Samples], None],
) -> Measurement | Fault:
    """Time one shape with batches of at most ``max_calls``; torch.OutOfMemoryError may come."""
    submission, baseline = pair
    overhead_s = overhead.batch_s if overhead else 0.0
    kept = baseline.kept.get(case.spec)
    programs = _sized(pair, task, case, max_calls, budget, overhead_s)
    if isinstance(programs, Fault):
        return programs
    nulls = NullBatches(overhead, programs, budget) if overhead else None
    samples: Samples = ([], [])
    start = time.perf_counter()
    overlap = OverlapAudit(pair, task, case, budget)
    clocks: list[BlockClocks] = []
    early_blocks = retaken = 0
    for block in itertools.count():
        began = time.perf_counter()
        seed = f"{task.seed}/{case.spec}/{block}"
        timed = _time_block(programs, block, seed, nulls)
        if isinstance(timed, Fault):
            return timed
        looking_s = -overlap.spent_s
        if (fault := overlap.after_block()) is not None:
            return fault
        start += looking_s + overlap.spent_s  # not charged to the budget
        now = time.perf_counter()
        submission.elapsed_s += now - began
        if submission.elapsed_s < budget.warm_s:
            start = now  # clocks are still rising: neither counted nor charged to the budget
            if nulls is not None:
                nulls.forget()
            continue
        if timed.early is not None:
            early_blocks += 1
            if early_blocks < _MOST_EARLY:
                continue
            return timed.early
        if retaken < MAX_RETAKEN and not alike(timed.clocks):
            retaken += 1
            continue
        clocks.append(timed.clocks)
        for which, sample in enumerate(timed.samples):
            samples[which].append(sample)
        if kept is not None:
            samples[1].append(kept.times[len(samples[1]) % len(kept.times)])
        on_block(samples)
        if not enough(samples, now - start, budget):
            continue
        longer = too_short(programs, samples, max_calls, budget)
        if nulls is None or not longer:
            break
        for program, calls in longer:
            if (fault := program.setup(case, calls)) is not None:
                return fault
        nulls.forget()
        samples, start = ([], []), time.perf_counter()
        clocks.clear()
    kernels = baseline.session.kernels if kept is None else kept.kernels
    measured = _measurement(task, case, pair, kernels, samples, seen(clocks))
    if kept is None:
        baseline.sizes[case.spec] = CallSize(net(samples[1]), baseline.round_trip_s)
    submission.times_as_long = net(samples[0]) / net(samples[1])
    return _audited(pair, task, case, measured, overlap, budget)


def _sized(
    pair: Pair, task: Task, case: Case, max_calls: int, budget: TimingBudget, overhead_s: float
) -> Sequence[TimedProgram] | Fault:
    """Those of the pair that are to be timed, with batches of the right length."""
    submission, baseline = pair
    programs: Sequence[TimedProgram] = pair
    if (kept := baseline.kept.get(case.spec)) is not None:
        programs = (submission,)
        baseline.calls, baseline.estimated_call_s = kept.calls, net(kept.times)
    for program in reversed(programs):
        like = baseline if program is submission else None
        fault = size_batch(program, task, case, max_calls, budget, overhead_s, like)
        if fault is not None:
            return fault
    calls = [program.calls for program in programs]
    even = even_out(calls, [program.estimated_call_s for program in programs])
    for program, count in zip(programs, even, strict=True):
        if count != program.calls and (fault := program.setup(case, count)) is not None:
            return fault
    return programs


def _audited(
    pair: Pair,
    task: Task,
    case: Case,
    measured: Measurement,
    overlap: OverlapAudit,
    budget: TimingBudget,
) -> Measurement | Fault:
    """``measured`` with what the audits of its times have seen, or a fault that they have found."""
    if (fault := pair[0].idle_fault()) is not None:
        return fault
    times_s = measured.time_s.value, measured.baseline_s.value
    if (fault := overlap.finish(times_s)) is not None:
        return fault
    measured = overlap.told(measured)
    if budget.isolated_blocks == 0 or measured.calls_per_batch == 1:
        return measured
    calls = [program.calls for program in pair]
    timed = time_isolated_call(pair, task, case, measured, budget)
    if isinstance(timed, Fault):
        return timed
    if linearity_doubt(timed):  # long calls are seldom seen in the time that others need
        for program, many in zip(pair, calls, strict=True):
            if (fault := program.setup(case, many)) is not None:
                return fault
        if (fault := overlap.finish(times_s, AGAIN_S)) is not None:
            return fault
        timed = overlap.told(timed)
    return slower_where_in_doubt(timed)


class _Block(NamedTuple):
    """One batch of each program; ``early`` is a fault if the device was at work before one."""

    samples: list[Timed]
    clocks: BlockClocks
    early: Fault | None


def _time_block(
    programs: Sequence[TimedProgram], block: int, seed: str, nulls: NullBatches | None
) -> _Block | Fault:
    """One batch of each, with the ``nulls`` that belong to them where overhead is measured."""
    samples = [Timed(0.0) for _ in programs]
    early: Fault | None = None
    if nulls is not None:
        nulls.begin_block()
    for which in in_turns(block) if len(programs) > 1 else (0,):
        program = programs[which]
        null = Null() if nulls is None else nulls.beside(which, seed)
        batch_s = program.time(seed, idle_after_s=null.after_s)
        if isinstance(batch_s, Fault):
            return batch_s
        early = early or null.early or program.started_early_fault()
        # Next time the null batch waits for as long as these calls took.
        program.estimated_call_s = max(batch_s - null.batch_s, 0.0) / program.calls
        samples[which] = Timed(batch_s / program.calls, null.batch_s / program.calls)
    other = programs[1].clocks if len(programs) > 1 else None
    return _Block(samples, (programs[0].clocks, other), early)


def enough(samples: Samples, spent_s: float, budget: TimingBudget) -> bool:
    """Whether the interval is narrow enough, or may not be made narrower."""
    blocks = len(samples[0])
    if blocks < budget.min_blocks:
        return False
    if blocks >= budget.max_blocks:
        return True
    half = ratio_interval(samples[1], samples[0]).relative_half_width
    if half <= budget.target_rel_ci:
        return True
    if half > max(budget.max_ranked_rel_ci, budget.extend_rel_ci):
        return spent_s > budget.ranked_s
    return spent_s > (budget.max_s if half > budget.extend_rel_ci else budget.budget_s)


def _measurement(
    task: Task,
    case: Case,
    pair: Pair,
    baseline_kernels: float | None,
    samples: Samples,
    clocks: Clocks | None,
) -> Measurement:
    work = task.problem.work(case, task.dtype)
    submission, baseline = pair
    own_null_s, baseline_null_s = (lower_quartile([one.null_batch_s for one in s]) for s in samples)
    return Measurement(
        spec=case.spec,
        time_s=time_interval(samples[0]),
        baseline_s=time_interval(samples[1]),
        speedup=ratio_interval(samples[1], samples[0]),
        calls_per_batch=submission.calls,
        baseline_calls_per_batch=baseline.calls,
        captured=submission.captured,
        kernels=submission.session.kernels,
        copied_outputs=submission.session.copied,
        baseline_kernels=baseline_kernels,
        launch_overhead_s=own_null_s * submission.calls,
        baseline_launch_overhead_s=baseline_null_s * baseline.calls,
        samples_s=tuple(max(one.batch_s - own_null_s, MIN_S) for one in samples[0]),
        baseline_samples_s=tuple(max(one.batch_s - baseline_null_s, MIN_S) for one in samples[1]),
        flops=work.flops,
        bytes=work.bytes,
        clocks=clocks,
    )


def with_baseline(
    measured: Sequence[Measurement], name: str, beside: Sequence[Measurement]
) -> tuple[Measurement, ...]:
    """``measured`` with the times of a further baseline, shape by shape.

    ``beside`` are the measurements of the same submission in turns with that baseline.
    """
    joined = []
    for first, second in zip(measured, beside, strict=True):
        other = BaselineTime(
            baseline=name,
            time_s=second.baseline_s,
            speedup=second.speedup,
            kernels=second.baseline_kernels,
            samples_s=second.baseline_samples_s,
            submission_samples_s=second.samples_s,
        )
        others = (*first.other_baselines, other)
        joined.append(first.model_copy(update={"other_baselines": others}))
    return tuple(joined)
