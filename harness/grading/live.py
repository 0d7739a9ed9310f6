"""What is known of a time while it is being taken."""

from collections.abc import Sequence

from harness.text import numbers
from harness.timing.statistics import Timed, ratio_interval, time_interval


def so_far(times: Sequence[Timed], baseline: Sequence[Timed]) -> str:
    """``12.31 ± 0.04 µs, 1.31× ± 0.02``: time per call and speed-up, from the blocks there are.

    Args:
        times: per call, one per block; at least one.
        baseline: the same of what it is timed in turns with.
    """
    time = numbers.seconds_interval(time_interval(times))
    return f"{time}, {numbers.ratio(ratio_interval(baseline, times))}"
