"""Which bytes between a tensor's first and last element are elements: its rows."""

from collections.abc import Sequence
from typing import NamedTuple


class Rows(NamedTuple):
    """Contiguous stretches of ``bytes`` bytes each, one for every index along ``axes``.

    An axis is its length and its step in bytes, the widest step first.
    """

    bytes: int
    axes: tuple[tuple[int, int], ...] = ()

    @property
    def nested(self) -> bool:
        """Whether each step is beyond all that lies inside it, as in a matrix with long rows.

        Then a byte belongs to the row that is found by dividing by step after step.
        """
        reach = self.bytes
        for length, step in reversed(self.axes):
            if step < reach:
                return False
            reach += (length - 1) * step
        return True


def rows_of(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> Rows:
    """The rows of a tensor whose elements are ``itemsize`` bytes; ``strides`` are in elements.

    A dense tensor, whatever the order of its dimensions, is one row.
    """
    axes = [(n, s * itemsize) for n, s in zip(shape, strides, strict=True) if n > 1]
    axes.sort(key=lambda axis: axis[1])
    run = itemsize
    while axes and axes[0][1] == run:
        run *= axes.pop(0)[0]
    return Rows(run, tuple(reversed(axes)))
