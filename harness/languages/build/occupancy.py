"""Occupancy: the warps of a kernel that a multiprocessor can hold, from the compiler's figures.

Source of the limits: *CUDA Programming Guide*, appendix "Compute Capabilities", table of technical
specifications; of the granularities, NVIDIA's ``cuda_occupancy.h``: registers are given to whole
warps in units of 256, each quarter of a multiprocessor has a quarter of them, and of shared memory
the system keeps 1 KiB a block for itself.

Shared memory asked for at launch and clusters are not counted, as ptxas does not know them. They
can only lower the figures.
"""

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

from harness.records.build import KernelResources, Occupancy

WARP = 32
BLOCKS = (128, 256, 512, 1024)
"""Threads per block to report where the build does not know the size."""

_REGISTERS = 65536
_REGISTER_UNIT = 256
_QUARTERS = 4
_MAX_REGISTERS = 255
_SHARED_UNIT = 128
_SHARED_RESERVED = 1024


class Multiprocessor(NamedTuple):
    """The limits of one multiprocessor; shared memory in bytes."""

    warps: int
    blocks: int
    shared_bytes: int


MULTIPROCESSORS = {
    "80": Multiprocessor(64, 32, 164 << 10),
    "86": Multiprocessor(48, 16, 100 << 10),
    "89": Multiprocessor(48, 24, 100 << 10),
    "90": Multiprocessor(64, 32, 228 << 10),
    "100": Multiprocessor(64, 32, 228 << 10),
    "120": Multiprocessor(48, 24, 100 << 10),
}
"""By compute capability, without its point."""

Limit = Literal["warps", "blocks", "registers", "shared memory"]


def max_shared_bytes(arch: str) -> int:
    """Bytes of shared memory that one block can have on ``arch``; the maximum of all if unknown."""
    held = _held(arch)
    known = MULTIPROCESSORS.values() if held is None else (held,)
    return max(each.shared_bytes for each in known) - _SHARED_RESERVED


def _held(arch: str) -> Multiprocessor | None:
    return MULTIPROCESSORS.get(arch.removeprefix("sm_").rstrip("af"))


def with_occupancy(kernels: Sequence[KernelResources], arch: str) -> tuple[KernelResources, ...]:
    """``kernels`` with their occupancy on ``arch``, such as ``sm_90a``; none if that is unknown."""
    held = _held(arch)

    def occupancies(kernel: KernelResources) -> tuple[Occupancy, ...]:
        sizes = BLOCKS if kernel.threads is None else (kernel.threads,)
        of = partial(occupancy, kernel.registers, kernel.shared_bytes, held=held)
        return tuple(found for size in sizes if (found := of(threads=size)))

    return tuple(each.model_copy(update={"occupancy": occupancies(each)}) for each in kernels)


def occupancy(
    registers: int, shared_bytes: int, threads: int, held: Multiprocessor | None
) -> Occupancy | None:
    """Occupancy with ``threads`` per block, and what limits it; None if unknown or no block fits.

    Of several equal limits the first of warps, blocks, registers, shared memory is named.
    """
    if held is None or not (0 < registers <= _MAX_REGISTERS and 0 < threads <= 1024):
        return None
    warps = -(-threads // WARP)  # a started warp takes a whole one's place
    per_warp = _rounded(registers * WARP, _REGISTER_UNIT)
    # Each quarter holds whole warps only, so its remainder is lost four times.
    by_registers = _QUARTERS * (_REGISTERS // _QUARTERS // per_warp)
    shared = _rounded(shared_bytes + _SHARED_RESERVED, _SHARED_UNIT)
    limits: dict[Limit, int] = {
        "warps": held.warps // warps,
        "blocks": held.blocks,
        "registers": by_registers // warps,
        "shared memory": held.shared_bytes // shared,
    }
    # In blocks; of equal limits min() takes the first.
    limit = min(limits, key=lambda name: limits[name])
    if limits[limit] == 0:
        return None
    return Occupancy(threads=threads, fraction=limits[limit] * warps / held.warps, limit=limit)


def _rounded(value: int, unit: int) -> int:
    """``value`` rounded up to a multiple of ``unit``."""
    return -(-value // unit) * unit
