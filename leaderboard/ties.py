"""Who beats whom: entries that the measurement cannot tell apart share a rank.

Method: ``measurement.md``, *Ties*. With s the natural logarithm of the score and se its standard
error, A beats B only if s_A - s_B > max(margin, 1.96 · sqrt(se_A² + se_B² + 2 σ_AA²)); the rank of
an entry is 1 plus the number of entries that beat it.

Being told apart is not transitive. An entry with a wide interval is beaten by few, so it may share
a rank with much better ones: what bounds this is that the judge leaves entries with a wide
interval unranked.
"""

import numpy as np
from numpy.typing import NDArray

MARGIN = 0.005
"""Smallest difference of log scores that counts, however small the intervals: 0.5 %."""

Z95 = 1.96
"""Half-width of a 95 % interval in standard errors."""

GRADE_SPREAD = 0.0
"""σ_AA: standard deviation of one solution's log score between grades, beyond its interval."""

_ROUNDING = 1e-9
"""Log scores that are so close are compared, not sorted."""

_PAIRS = 1 << 17
"""Pairs of entries that are compared at a time, or those of one entry if there are more: about as
many as caches hold."""

Floats = NDArray[np.float64]


def standard_errors(low: Floats, high: Floats) -> Floats:
    """Standard errors in the log domain of values with the 95 % intervals ``low``, ``high`` > 0."""
    with np.errstate(divide="ignore"):
        return (np.log(high) - np.log(low)) / (2 * Z95)


def beats(
    score: float, error: float, scores: Floats, errors: Floats, *, spread: float = GRADE_SPREAD
) -> NDArray[np.bool_]:
    """Which of the others, given by log scores and standard errors, one entry beats."""
    doubt = Z95 * np.sqrt(error**2 + errors**2 + 2 * spread**2)
    return score - scores > np.maximum(MARGIN, doubt)


def ranks(scores: Floats, errors: Floats, *, spread: float = GRADE_SPREAD) -> NDArray[np.int64]:
    """Rank of each entry, 1 the best, in the order given."""
    result = np.ones(len(scores), dtype=np.int64)
    if not len(scores):
        return result
    order = np.argsort(scores)
    squares = errors**2
    ordered, ordered_squares = scores[order], squares[order]
    # Only those between are asked pair by pair: nobody beats an entry by less than the margin, and
    # whoever is further ahead than the widest doubt beats it for sure.
    widest = Z95 * np.sqrt(errors**2 + np.max(errors) ** 2 + 2 * spread**2)
    nearest = np.searchsorted(ordered, scores + MARGIN - _ROUNDING)
    furthest = np.searchsorted(ordered, scores + np.maximum(MARGIN, widest) + _ROUNDING)
    result += len(scores) - furthest
    counts = furthest - nearest
    stretches = np.cumsum(counts) // _PAIRS
    for places in np.split(np.arange(len(scores)), np.flatnonzero(np.diff(stretches)) + 1):
        many = counts[places]
        asked = np.repeat(np.arange(len(places)), many)
        others = np.arange(len(asked)) + np.repeat(nearest[places] - np.cumsum(many) + many, many)
        mine = np.repeat(squares[places], many)
        doubt = Z95 * np.sqrt(ordered_squares[others] + mine + 2 * spread**2)
        ahead = ordered[others] - np.repeat(scores[places], many)
        beaten = ahead > np.maximum(MARGIN, doubt)
        result[places] += np.bincount(asked[beaten], minlength=len(places))
    return result
