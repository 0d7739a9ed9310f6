"""The best recorded solution as a baseline: how a new result stands against it.

It is not timed again. Both scores are over the same first baseline of the same version of the
problem, which was timed in turns with each of them, so their ratio is what the board ranks by, and
a card that was slower on another day falls out. The interval has the doubt of both.
"""

import math
from collections.abc import Iterable

from harness.records.measurement import BaselineScore, Interval
from harness.records.result import Result
from leaderboard.ranking import board, rows


def with_best(result: Result, recorded: Iterable[Result]) -> Result:
    """``result`` with its speed-up over the best of the ``recorded`` ones, if there is one.

    That is the ranked entry with the highest score on the board that ``result`` belongs to, of
    another solution than its own.
    """
    found = _best(result, list(recorded)) if result.score else None
    if result.score is None or found is None or found.score is None:
        return result
    best = BaselineScore(
        baseline=f"{found.solution.author}/{found.solution.name}",
        speedup=_ratio(result.score.speedup, found.score.speedup),
        recorded_at=found.created,
        result=found.id,
    )
    baselines = (*result.score.other_baselines, best)
    score = result.score.model_copy(update={"other_baselines": baselines})
    return result.model_copy(update={"score": score})


def _best(result: Result, recorded: list[Result]) -> Result | None:
    current = {result.problem.slug: result.problem.hash}
    (mine,) = rows(board([result], current=current))
    others = board(recorded, problem=result.problem.slug, all_entries=True, current=current)
    for row in rows(others):
        if row.key == mine.key and row.rank is not None and row.solution_hash != mine.solution_hash:
            return next(each for each in recorded if each.id == row.result)
    return None


def _ratio(above: Interval, below: Interval) -> Interval:
    """The quotient of two independent values; their standard errors add in quadrature in logs."""
    value = above.value / below.value
    ends = (above.low, above.high, below.low, below.high)
    if min(ends) <= 0 or not math.isfinite(max(ends)):
        return Interval(value=value, low=0.0, high=math.inf)
    halves = [math.log(each.high / each.low) / 2 for each in (above, below)]
    return Interval.of_log(math.log(value), math.hypot(*halves))
