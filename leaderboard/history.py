"""A baseline's time against what it took in other grades: slower than usual is said in a note.

A submission that keeps the machine busy while the baseline runs gets a better speed-up without a
better time. What a grade holds against that it does within itself; this tells an organiser where to
look, and is no reason not to rank: another card of the same name may be slower.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from harness.records.measurement import Measurement
from harness.records.result import Result

RECENT = 50
"""So many of the newest grades are looked at."""

_ROUGH = "verdict"
"""The effort of results whose times are rough."""

_ENOUGH = 3
"""Other grades that are needed."""

_SLOWER = 1.02
"""A baseline that takes up to so many times the median is as usual."""


def with_baseline_notes(result: Result, recorded: Callable[[], Iterable[Result]]) -> Result:
    """``result`` with a note for each shape whose baseline took more than 2 % longer than usual.

    Usual is the median over those of the ``recorded`` grades that measured the same: version of the
    problem, data type, device, driver and libraries. A lower clock that explains it is no news, nor
    is what the interval holds. Of a mere verdict's rough times nothing is said, and no record read.
    """
    if result.score is None or result.device.emulated or result.effort == _ROUGH:
        return result
    others = (each for each in recorded() if each.id != result.id and each.effort != _ROUGH)
    same = [each for each in others if _what(each) == _what(result)]
    notes = [note for shape in result.measurements for note in _notes(shape, same)]
    return result.model_copy(update={"notes": (*result.notes, *notes)}) if notes else result


def _what(result: Result) -> tuple[object, ...]:
    """What the time of a baseline depends on, but for the shape."""
    e = result.environment
    libraries = (e.harness, e.torch, e.triton, e.driver, e.toolkit)
    baseline = result.score.baseline if result.score else None
    return result.problem.hash, result.dtype, result.device, baseline, *libraries


def _notes(shape: Measurement, recorded: Sequence[Result]) -> Iterator[str]:
    found = (each for other in recorded for each in other.measurements if each.spec == shape.spec)
    # A run grades files of the same content once, and records them all with the same times.
    others = list({each.baseline_s: each for each in found}.values())
    if len(others) < _ENOUGH:
        return
    usual_s = statistics.median(each.baseline_s.value for each in others)
    if shape.baseline_s.low > usual_s * _SLOWER * _slower_clock(shape, others):
        longer = shape.baseline_s.value / usual_s - 1
        yield (
            f"{shape.spec}: the baseline took {longer:.1%} longer than in the median of "
            f"{len(others)} other grades on such a card"
        )


def _slower_clock(shape: Measurement, others: Sequence[Measurement]) -> float:
    """How many times as long a call takes by its clock, which is lower; 1 where that is unknown."""
    clocks = [statistics.fmean(each.clocks.baseline_sm_mhz) for each in others if each.clocks]
    if shape.clocks is None or len(clocks) < len(others):
        return 1.0
    return max(1.0, statistics.median(clocks) / statistics.fmean(shape.clocks.baseline_sm_mhz))
