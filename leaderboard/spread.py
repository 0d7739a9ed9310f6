"""σ_AA of a device: by how much the log scores of one solution scatter from grade to grade.

A grade's interval holds what differs within the grade. What stays the same for a whole grade and
not for the next (clocks, the places of buffers, the time of day) shows only where the same file was
graded again on the same board.

Method: half the squared difference of two successive grades estimates their variance, and a driver
or library that changed in between counts once (mean square successive difference: von Neumann et
al., *Ann. Math. Stat.* 12, 1941). Less their squared standard errors it estimates what the
intervals do not hold (moment estimator of a random effect: Hedges, *Psychol. Bull.* 93, 1983). Of
both errors it is the smaller, to be careful: one wide interval must not hide the spread of others.
All pairs of a device are pooled, and :data:`GRADE_SPREAD`, assumed where there is none, counts for
as much as :data:`ASSUMED_PAIRS` of them (a scaled inverse χ² prior: Smyth, *Stat. Appl. Genet. Mol.
Biol.* 3, 2004), so that no single grade turns ranks over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.records.ties import GRADE_SPREAD
from leaderboard.board import KEY
from leaderboard.origin import counting
from leaderboard.ties import standard_errors

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from leaderboard.ties import Floats

__all__ = ["ASSUMED_PAIRS", "FURTHEST", "GRADE_SPREAD", "LARGEST", "grade_spread", "with_spread"]

ASSUMED_PAIRS = 20
"""So many pairs of grades count as much as the assumption; they tell σ to about one part in six."""

FURTHEST = 0.02
"""Log scores of a pair that are further apart tell of something else: a library, or the file."""

LARGEST = 0.005
"""σ_AA is at most this: anybody may submit a file whose time is another in each grade.

A score with so wide an interval (±1 %) would not be ranked.
"""

_DEVICE = ["device_kind", "device", "harness_major"]
_FILE = [*KEY, "problem_hash", "harness", "language", "solution_hash"]
"""The columns that grades of one file have in common."""
_MEASURED = ["speedup", "speedup_low", "speedup_high"]


def grade_spread(scores: Floats, errors: Floats, files: NDArray[np.int64] | None = None) -> float:
    """σ_AA from log scores with their standard errors, in the order of grading within each file.

    Args:
        scores: shape ``(n,)``, the grades of one file after the other.
        errors: shape ``(n,)``.
        files: shape ``(n,)``, equal for grades of the same file; all are of one without it.
    """
    lead = np.diff(scores)
    pairs = np.abs(lead) <= FURTHEST
    if files is not None:
        pairs &= np.diff(files) == 0
    excess = lead**2 / 2 - np.minimum(errors[1:], errors[:-1]) ** 2
    known = ASSUMED_PAIRS * GRADE_SPREAD**2 + float(excess[pairs].sum())
    variance = known / (ASSUMED_PAIRS + int(pairs.sum()))
    return float(np.sqrt(min(max(variance, 0.0), LARGEST**2)))


def with_spread(by_age: pd.DataFrame) -> pd.DataFrame:
    """The entries, the oldest first, with the column ``grade_spread``: σ_AA of their device.

    Ranked ones of all boards of the device count, the same measurement once, whoever submitted it;
    imported ones where there are no own ones.
    """
    timed = by_age[by_age["accepted"] & (by_age["unranked_reason"] == "")]
    timed = timed[counting(timed, _DEVICE)]
    timed = timed[timed.duplicated("solution_hash", keep=False)]
    timed = timed.drop_duplicates([*_FILE, *_MEASURED])
    files = timed.groupby(_FILE).ngroup().sort_values(kind="stable")
    timed = timed.loc[files.index]
    scores, low, high = (timed[name].to_numpy() for name in _MEASURED)
    scores, errors = np.log(scores), standard_errors(low, high)
    found = np.full(len(by_age), GRADE_SPREAD)
    grades = timed.assign(place=np.arange(len(timed))).groupby(_DEVICE)["place"]
    entries = by_age.groupby(_DEVICE).indices
    for device, places in grades:
        at = places.to_numpy()
        found[entries[device]] = grade_spread(scores[at], errors[at], files.to_numpy()[at])
    return by_age.assign(grade_spread=found)
