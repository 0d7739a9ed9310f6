"""When one time is better than another and not a tie: the rule of boards and of head-to-heads.

Needs neither numpy nor the records: both sides of the border import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Z95 = 1.96
"""Half-width of a 95 % interval in standard errors."""

MARGIN = 0.005
"""Smallest difference of log times that counts, however small the intervals: 0.5 %."""

GRADE_SPREAD = 0.0015
"""σ_AA where no grades say: what a solution's log score scatters from grade to grade, 0.15 %.

It is what the interval of one grade does not hold. Measured on an H200: grades of one Triton file
scattered by 0.18 %, their intervals were ±0.2 %: sqrt(0.18² - (0.2/1.96)²) = 0.15 %.
"""


@overload
def is_ahead(lead: float, doubt: float) -> bool: ...
@overload
def is_ahead(lead: NDArray[np.float64], doubt: NDArray[np.float64]) -> NDArray[np.bool_]: ...
def is_ahead(
    lead: float | NDArray[np.float64], doubt: float | NDArray[np.float64]
) -> bool | NDArray[np.bool_]:
    """Whether ``lead``, a difference of log times, exceeds both the margin and its ``doubt``.

    ``doubt`` is the half-width of the lead's 95 % interval. Works elementwise on arrays.
    """
    return (lead > MARGIN) & (lead > doubt)
