"""The card's clocks as both programs of a block saw them: alike, or the block is taken again.

Clocks that change by themselves meet both programs alike, since their order alternates, and make
times scatter; a block in which both saw the same does not. Clocks that stay with one program follow
its load and are its own: taking blocks again does not help, so it ends after :data:`MAX_RETAKEN`,
and the measurement says what was seen.
"""

from collections.abc import Sequence

from harness.device.base import ClockReading
from harness.records.measurement import Clocks

MAX_RETAKEN = 3
"""So many blocks of a shape are taken again, a tenth of its time."""

_TOLERANCE = 0.005
"""Clocks that differ by less are the same: the margin of ranks. A step of 15 MHz is more."""

_MAX_SHARE = 0.25
"""Up to this share of blocks with different clocks is no news: a time is the lower quartile."""

BlockClocks = tuple[ClockReading | None, ClockReading | None]
"""What was read after the batch of the submission, and of the baseline; None: not known."""


def alike(clocks: BlockClocks) -> bool:
    """Whether both programs of a block saw the same clocks, or it cannot be told.

    Under a power cap, into which every healthy card runs at full load, the clock is the load's.
    """
    one, other = clocks
    if one is None or other is None or one.capped or other.capped:
        return True
    return _near(one.sm_mhz, other.sm_mhz) and _near(one.memory_mhz, other.memory_mhz)


def _near(one: int, other: int) -> bool:
    return abs(one - other) <= _TOLERANCE * max(one, other)


def seen(blocks: Sequence[BlockClocks]) -> Clocks | None:
    """The record of the blocks that count; None where no clock was read."""
    pairs = [(one, other) for one, other in blocks if one is not None and other is not None]
    if not pairs:
        return None
    own, baseline = zip(*pairs, strict=True)
    return Clocks(
        sm_mhz=_range([each.sm_mhz for each in own]),
        baseline_sm_mhz=_range([each.sm_mhz for each in baseline]),
        memory_mhz=_range([each.memory_mhz for each in own]),
        baseline_memory_mhz=_range([each.memory_mhz for each in baseline]),
        blocks=len(pairs),
        blocks_apart=sum(not alike(pair) for pair in pairs),
    )


def _range(values: Sequence[int]) -> tuple[int, int]:
    return min(values), max(values)


def clock_note(spec: str, clocks: Clocks | None, names: tuple[str, str]) -> str:
    """That both programs, called ``names``, did not see the same clocks; empty if they did."""
    if clocks is None or clocks.blocks_apart <= _MAX_SHARE * clocks.blocks:
        return ""
    own = f"{_shown(clocks.sm_mhz)} (memory {_shown(clocks.memory_mhz)})"
    baseline = f"{_shown(clocks.baseline_sm_mhz)} (memory {_shown(clocks.baseline_memory_mhz)})"
    return (
        f"{spec}: in {clocks.blocks_apart} of {clocks.blocks} blocks the card's clocks were not "
        f"the same for both, though blocks were taken again: {own} MHz after {names[0]}, "
        f"{baseline} MHz after {names[1]}"
    )


def _shown(clock_mhz: tuple[int, int]) -> str:
    low, high = clock_mhz
    return f"{low}" if low == high else f"{low}–{high}"
