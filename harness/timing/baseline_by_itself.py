"""Baselines by themselves: when nothing of the submission is left, or before any is there.

A submission may gain as much by slowing the baseline down as by being fast. Whatever it does to
the machine meanwhile, through the host, the bus or the card's clocks, ends with its processes.
"""

import itertools
import time
from collections.abc import Iterator

from harness.judge.task import Task
from harness.problem.case import Case
from harness.records.measurement import Interval, Measurement
from harness.text.numbers import seconds
from harness.timing.budget import TimingBudget
from harness.timing.launch_overhead import OverheadProbe
from harness.timing.sizing import most_calls, size_batch
from harness.timing.statistics import Timed, time_interval
from harness.timing.timed_program import KeptTimes, TimedProgram

SLOWED = 1.02
"""Times as long as by itself that a baseline may take beside a submission."""
_BLOCKS, _MORE = 4, 4
"""Blocks at first, and as many more as are taken where these say that it was slowed down."""
_KEPT = 8
"""Blocks of times that are kept."""


def time_by_itself(
    baseline: TimedProgram,
    task: Task,
    case: Case,
    beside: Measurement,
    budget: TimingBudget,
    overhead: OverheadProbe,
) -> Measurement:
    """``beside`` with the time of the baseline by itself; the submission must have ended.

    Where the card's clock was lower beside the submission, the time is what the baseline would
    take at that clock: power that an honest kernel uses is no fault of it.

    Raises:
        BaselineError: the baseline failed.
    """
    baseline.setup(case, beside.baseline_calls_per_batch or 1)
    samples: list[Timed] = []
    clocks: list[int] = []
    wait_s = min(beside.baseline_s.value * baseline.calls, budget.null_batch_s)
    for timed in _blocks(baseline, f"{task.seed}/{case.spec}/by itself", wait_s, overhead):
        samples.append(timed)
        if baseline.clocks is not None:
            clocks.append(baseline.clocks.sm_mhz)
        if len(samples) < _BLOCKS:
            continue
        interval = time_interval(samples).times(_slower_clock(beside, clocks))
        measured = beside.model_copy(update={"baseline_by_itself_s": interval})
        if len(samples) == _BLOCKS + _MORE or not slowed_baseline(measured):
            return measured
    raise AssertionError


def keep_times(
    baseline: TimedProgram,
    task: Task,
    case: Case,
    budget: TimingBudget,
    overhead: OverheadProbe | None,
    warm_s: float,
) -> KeptTimes:
    """Times of the baseline on one shape, for measurements without it; no submission may be there.

    For ``warm_s`` before, blocks do not count, as in a measurement.

    Raises:
        BaselineError: the baseline failed.
        OutOfDeviceMemory, torch.OutOfMemoryError: there is no memory for it.
    """
    most = most_calls((baseline,), task, case, budget)
    overhead_s = overhead.batch_s if overhead else 0.0
    size_batch(baseline, task, case, most, budget, overhead_s)
    batch_s = baseline.estimated_call_s * baseline.calls
    wait_s = min(batch_s, budget.null_batch_s)
    blocks = _blocks(baseline, f"{task.seed}/{case.spec}/kept", wait_s, overhead)
    until = time.perf_counter() + warm_s
    next(blocks)
    while time.perf_counter() < until:
        next(blocks)
    times = tuple(itertools.islice(blocks, _KEPT))
    return KeptTimes(times, baseline.calls, baseline.session.kernels)


def _blocks(
    baseline: TimedProgram, seed: str, wait_s: float, overhead: OverheadProbe | None
) -> Iterator[Timed]:
    """Batches of the baseline, each with a null batch that waits for ``wait_s``."""
    for block in itertools.count():
        null_s = after_s = 0.0
        if overhead is not None:
            overhead.warm_up(f"{seed}/{block}", baseline.cpu)
            null_s = overhead.time(baseline.batch, f"{seed}/{block}/null", baseline.cpu, wait_s)
            after_s = overhead.after_s
        batch_s = baseline.time(f"{seed}/{block}", idle_after_s=after_s)
        assert isinstance(batch_s, float)  # a fault of the baseline is raised
        yield Timed(batch_s / baseline.calls, null_s / baseline.calls)


def _slower_clock(beside: Measurement, clocks: list[int]) -> float:
    """How many times as fast the SM clock was now as beside the submission; 1 at least."""
    if beside.clocks is None or not clocks:
        return 1.0
    return max(1.0, max(clocks) / max(1, beside.clocks.baseline_sm_mhz[0]))


def slowed_baseline(measured: Measurement) -> str:
    """Why the baseline's time does not count: it was slowed down; empty if it was not."""
    beside, by_itself = measured.baseline_s, measured.baseline_by_itself_s
    if by_itself is None or not _surely_longer(beside, by_itself):
        return ""
    return (
        f"{measured.spec}: the baseline took {seconds(beside.value)} beside the submission, and "
        f"{seconds(by_itself.value)} when that had ended: something slowed it down"
    )


def _surely_longer(one: Interval, other: Interval) -> bool:
    return one.value > SLOWED * other.value and one.low > other.high
