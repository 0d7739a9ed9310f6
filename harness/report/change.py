"""What a save has changed, on the terminal: the verdict, the time, and its ratio to the one before.

What is as it was before is not said again.
"""

import math
import re
from collections.abc import Iterator

from rich.console import Console

from harness.records.measurement import Interval
from harness.records.result import Result
from harness.report.tables import line
from harness.report.terminal import labelled, render_on_screen, title
from harness.text import numbers
from harness.text.plain import plain_lines

_MESSAGE = 1000


def render_change(before: Result, result: Result, console: Console, rest: str = "") -> None:
    """Print how ``result`` differs from that of the same file ``before`` it was saved.

    A failure that is new is shown as one alone would be, with where the ``rest`` of it is; one that
    is the same with its reason.
    """
    same = result.verdict is before.verdict
    if not result.accepted and not (same and _failure(result) == _failure(before)):
        render_on_screen(result, console, rest)
        return
    verdict = "as before" if same else f"was {before.verdict}"
    line(console, title(result, verdict, *_times(before, result)), copied=True)
    if not result.accepted:
        labelled(console, "reason", plain_lines(result.message, _MESSAGE))


def _failure(result: Result) -> str:
    """What is wrong, but for the numbers of a case, which each grade draws anew."""
    message = result.message
    return message if result.failed_case is None else re.sub(r"\d+", "0", message)


def _times(before: Result, result: Result) -> Iterator[str]:
    """``302 µs``, ``1.08× ± 0.02 as fast``; nothing if it was not timed."""
    times = [each.time_s.value for each in result.measurements]
    if not times or min(times) <= 0:
        return
    yield numbers.seconds(math.exp(sum(map(math.log, times)) / len(times)))
    if (ratio := time_ratio(before, result)) is not None:
        unclear = ", no clear difference" if ratio.low <= 1 <= ratio.high else ""
        yield f"{numbers.ratio(ratio)} as fast{unclear}"


def time_ratio(before: Result, result: Result) -> Interval | None:
    """How many times as fast as ``before``: geometric mean over the shapes that both have.

    Its interval has the doubts of both, in the logarithm and as if independent; None if they have
    no shape in common.
    """
    former = {each.spec: each.time_s for each in before.measurements}
    both = [(former[m.spec], m.time_s) for m in result.measurements if m.spec in former]
    if not both or not all(a.value > 0 and b.value > 0 for a, b in both):
        return None
    log = sum(math.log(a.value / b.value) for a, b in both) / len(both)
    half = math.sqrt(sum(_doubt(each) ** 2 for pair in both for each in pair)) / len(both)
    return Interval(value=math.exp(log), low=math.exp(log - half), high=_exp(log + half))


def _doubt(time: Interval) -> float:
    """Half the width of the interval's logarithm."""
    if not (time.low > 0 and math.isfinite(time.high)):
        return math.inf
    return math.log(time.high / time.low) / 2


def _exp(log: float) -> float:
    return math.exp(log) if log < 700 else math.inf
