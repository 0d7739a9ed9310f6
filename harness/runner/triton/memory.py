"""Checks every lane of every access of a kernel against the tensors of its launch."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from harness.runner.strides import Rows, addresses, rows_of


class OutOfBounds(Exception):
    """A kernel read or wrote outside of the tensors that it was given."""


class Extent(NamedTuple):
    """Addresses ``start <= a < end`` that belong to what the kernel calls ``name``.

    ``rows`` are the elements among them, where some are none: the gaps between are outside.
    """

    name: str
    start: int
    end: int
    rows: Rows | None = None

    def outside(self, address: NDArray[np.uint64], size: int) -> NDArray[np.bool_]:
        """Mark the accesses of ``size`` bytes that do not lie in this."""
        if self.end - self.start < size:
            return np.ones(address.shape, dtype=bool)
        wrong = (address < np.uint64(self.start)) | (address > np.uint64(self.end - size))
        if self.rows is None:
            return wrong
        rest = np.where(wrong, np.uint64(0), address - np.uint64(self.start))
        for length, step in self.rows.axes:
            rest = rest - np.minimum(rest // step, length - 1).astype(rest.dtype) * step
        return wrong | (rest + size > self.rows.bytes)

    def place(self, address: int, size: int) -> str:
        """Say where an access of ``size`` bytes lies that does not lie in this."""
        if self.start <= address <= self.end - size:
            place = "between the rows"
        elif address < self.start:
            place = f"{_count(-(-(self.start - address) // size))} before the start"
        else:
            place = f"{_count((address - self.end) // size + 1)} past the end"
        return f"{place} of {self.name} ({_count((self.end - self.start) // size)})"


class LaunchMemory:
    """The extents of the launch that is running, and of the tensors the judge handed out."""

    def __init__(self) -> None:
        self._watched: tuple[tuple[int, Extent], ...] = ()
        self.kernel = ""
        self.program = (0, 0, 0)
        """The running program of the grid, for messages; so is ``kernel``."""
        self._extents: tuple[Extent, ...] = ()
        self.extents: dict[int, Extent] = {}
        """For each pointer argument of this launch, the tensor that it points into."""

    def watch(self, tensors: Iterable[torch.Tensor]) -> None:
        """See :meth:`harness.runner.triton.cpu.watch`."""
        self._watched = tuple(
            (tensor.untyped_storage().data_ptr(), _span(f"argument {index}", tensor))
            for index, tensor in enumerate(tensors)
        )

    def launch(self, kernel: str, arguments: Iterable[tuple[str, object]]) -> None:
        """Begin a launch with these (name, value) arguments."""
        self.kernel = kernel
        named = [pair for name, value in arguments for pair in _flatten(name, value)]
        tensors = [(name, value) for name, value in named if isinstance(value, torch.Tensor)]
        self.extents = {t.data_ptr(): self._extent(name, t) for name, t in reversed(tensors)}
        self._extents = tuple(sorted(set(self.extents.values()), key=lambda e: e.start))
        if any(_holds_addresses(value) for _, value in named):
            self._extents += tuple(extent for _, extent in self._watched)

    def _extent(self, name: str, tensor: torch.Tensor) -> Extent:
        storage = tensor.untyped_storage()
        handed_out = [extent for base, extent in self._watched if base == storage.data_ptr()]
        if not handed_out:
            return Extent(name, storage.data_ptr(), storage.data_ptr() + storage.nbytes())
        pointer = tensor.data_ptr()
        for extent in handed_out:
            if extent.start <= pointer < extent.end:
                return extent._replace(name=name)
        return Extent(name, pointer, pointer)

    def check(
        self,
        access: str,
        address: NDArray[np.uint64],
        mask: NDArray[np.bool_] | bool,
        size: int,
        extent: Extent | None,
    ) -> None:
        """Raise unless each lane that ``mask`` lets through lies inside.

        ``size`` is that of one lane in bytes; ``extent`` what the pointer was derived from, where
        that is known (else any tensor of the launch will do).

        Raises:
            OutOfBounds: naming the kernel, the program, the lanes and the place.
        """
        allowed = self._extents if extent is None else (extent,)
        outside = np.ones(address.shape, dtype=bool)
        for each in allowed:
            outside &= each.outside(address, size)
        outside &= np.asarray(mask, dtype=bool)
        if not outside.any():
            return
        flat = int(np.argmax(outside))
        lane = tuple(int(i) for i in np.unravel_index(flat, address.shape))
        where = int(address.reshape(-1)[flat])
        shown = lane[0] if len(lane) == 1 else lane
        place = "the launch has no tensors"
        if allowed:
            near = min(allowed, key=lambda e: max(e.start - where, where + size - e.end))
            place = near.place(where, size)
        raise OutOfBounds(
            f"kernel {self.kernel}, program {self.program}: {access} outside of its tensors in "
            f"{int(outside.sum())} of {address.size} lanes, first in lane {shown}: {place}"
        )


def _count(elements: int) -> str:
    return f"{elements} element{'' if elements == 1 else 's'}"


def _span(name: str, tensor: torch.Tensor) -> Extent:
    """From the first element of a tensor to the last, without what lies between its rows."""
    rows = rows_of(tensor.shape, tensor.stride(), tensor.element_size())
    gaps = tensor.numel() > 0 and rows.axes and rows.nested
    return Extent(name, *addresses(tensor), rows if gaps else None)


def _flatten(name: str, value: object) -> Iterable[tuple[str, object]]:
    """Tuples, tensor descriptors and reinterpreted tensors hold their tensors inside."""
    if isinstance(value, tuple | list):
        for index, part in enumerate(value):
            yield from _flatten(f"{name}[{index}]", part)
    else:
        base = getattr(value, "base", None)
        yield name, base if isinstance(base, torch.Tensor) else value


def _holds_addresses(value: object) -> bool:
    """Whether a kernel may take pointers out of this: tables of addresses are plain integers."""
    if isinstance(value, torch.Tensor):
        return value.dtype in (torch.int64, torch.uint64)
    return isinstance(value, int) and value > 1 << 32
