"""When one time is better than another and not a tie: the rule of boards and of head-to-heads.

Needs neither numpy nor the records: both sides of the border import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MARGIN = 0.005
"""Smallest difference of log times that counts, however small the intervals: 0.5 %."""


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
