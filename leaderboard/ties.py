"""Who beats whom: entries that the measurement cannot tell apart share a rank.

Method: docs/explanation/measurement.md, *Ties*. With s the natural logarithm of the score and se
its standard error, A beats B only if s_A - s_B > max(margin, 1.96 · sqrt(se_A² + se_B² + 2 σ_AA²));
the rank of an entry is 1 plus the number of entries that beat it. σ_AA, the spread of a solution
between grades, is that of its device (:mod:`leaderboard.spread`).

Being told apart is not transitive. An entry with a wide interval is beaten by few, so it may share
a rank with much better ones: what bounds this is that the judge leaves entries with a wide
interval unranked.
"""

import numpy as np
from numpy.typing import NDArray

from harness.records.ties import GRADE_SPREAD, MARGIN, Z95, is_ahead

__all__ = ["GRADE_SPREAD", "MARGIN", "Z95", "beats", "ranks", "standard_errors"]

_ROUNDING = 1e-9
"""Log scores that are so close are compared, not sorted."""

Floats = NDArray[np.float64]


def standard_errors(low: Floats, high: Floats) -> Floats:
    """Standard errors in the log domain of values with the 95 % intervals ``low``, ``high`` > 0."""
    with np.errstate(divide="ignore"):
        return (np.log(high) - np.log(low)) / (2 * Z95)


def beats(
    score: float, error: float, scores: Floats, errors: Floats, *, spread: float = GRADE_SPREAD
) -> NDArray[np.bool_]:
    """Which of the others, given by log scores and standard errors, one entry beats."""
    return is_ahead(score - scores, _doubt(error, errors, spread))


def ranks(scores: Floats, errors: Floats, *, spread: float = GRADE_SPREAD) -> NDArray[np.int64]:
    """Rank of each entry, 1 the best, in the order given."""
    if not len(scores):
        return np.ones(0, dtype=np.int64)
    order = np.argsort(scores)
    ordered, ordered_errors = scores[order], errors[order]
    # Most pairs need no comparison: nobody beats an entry by less than the margin, and an entry
    # that is ahead by more than the widest doubt beats it for sure.
    widest = np.maximum(MARGIN, _doubt(float(np.max(errors)), errors, spread))
    other = np.searchsorted(ordered, scores + MARGIN - _ROUNDING)
    ends = np.searchsorted(ordered, scores + widest + _ROUNDING)
    result = 1 + len(scores) - ends
    asked = np.flatnonzero(other < ends)
    while len(asked):  # each of them is compared with its next one
        who = other[asked]
        doubt = _doubt(errors[asked], ordered_errors[who], spread)
        result[asked] += is_ahead(ordered[who] - scores[asked], doubt)
        other[asked] += 1
        asked = asked[other[asked] < ends[asked]]
    return result


def _doubt(error: float | Floats, errors: Floats, spread: float) -> Floats:
    """Half-widths of the 95 % intervals of the differences of log scores."""
    doubt: Floats = Z95 * np.sqrt(error**2 + errors**2 + 2 * spread**2)
    return doubt
