"""Ways of adding numbers up in order, in an accumulator's own type, as kernels do it.

Each takes a vector of the accumulator's type (numpy adds in that very type) and gives its sum.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating]


def one_after_the_other(x: Numbers) -> np.floating:
    """One thread, from the first to the last."""
    with np.errstate(over="ignore"):
        return np.add.accumulate(x)[-1]


def _in_groups(x: Numbers, groups: NDArray[np.floating]) -> np.floating:
    """Each row by itself, then what they came to and what is left of ``x``."""
    sums = np.add.accumulate(groups, axis=1)[:, -1]
    return one_after_the_other(np.concatenate([sums, x[groups.size :]]))


def _blocks(x: Numbers, length: int) -> np.floating:
    whole = len(x) // length * length
    return _in_groups(x, x[:whole].reshape(-1, length)) if whole else one_after_the_other(x)


def _lanes(x: Numbers, count: int) -> np.floating:
    whole = len(x) // count * count
    if not whole:
        return one_after_the_other(x)
    return _in_groups(x, np.ascontiguousarray(x[:whole].reshape(-1, count).T))


def _tree(x: Numbers) -> np.floating:
    while len(x) > 1:
        half = len(x) // 2
        x = np.concatenate([x[:half] + x[half : 2 * half], x[2 * half :]])
    return x[0]


ORDERS: dict[str, Callable[[Numbers], np.floating]] = {
    "sequential": one_after_the_other,
    "reversed": lambda x: one_after_the_other(np.ascontiguousarray(x[::-1])),
    "blocked": lambda x: _blocks(x, 16),
    "split": lambda x: _blocks(x, -(-len(x) // 8)),
    "two lanes": lambda x: _lanes(x, 2),
    "a warp": lambda x: _lanes(x, 32),
    "tree": _tree,
}
