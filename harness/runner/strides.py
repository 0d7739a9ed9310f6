"""Rows of a tensor: the bytes between its first and last element that are elements."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class Rows(NamedTuple):
    """Contiguous stretches of ``bytes`` bytes each, one for every index along ``axes``.

    An axis is its length and its step in bytes, the widest step first.
    """

    bytes: int
    axes: tuple[tuple[int, int], ...] = ()

    @property
    def nested(self) -> bool:
        """Whether dividing by step after step finds a byte's row, as in a matrix with long rows."""
        reach = self.bytes
        for length, step in reversed(self.axes):
            if step < reach:  # it leads into what lies inside
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


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first of a tensor to its last; ``strides`` are in elements."""
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def overlap(a: "Tensor", b: "Tensor") -> bool:
    """Whether any byte from the first to the last element belongs to both tensors."""
    (a_start, a_end), (b_start, b_end) = addresses(a), addresses(b)
    return a_start < b_end and b_start < a_end


def addresses(tensor: "Tensor") -> tuple[int, int]:
    """Addresses of the first byte of a tensor and of the one after its last."""
    start = int(tensor.data_ptr())
    if tensor.numel() == 0:
        return start, start
    return start, start + span(tensor.shape, tensor.stride()) * tensor.itemsize
