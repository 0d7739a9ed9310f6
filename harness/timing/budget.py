"""How long a measurement may take, and how sure it must be."""

import math
from dataclasses import dataclass, replace

from harness.device.base import Device

_SHAPES = 3
"""A measurement has as many looks as so many shapes have by themselves."""
_LEAST_LOOKS = 8
"""But a shape has no fewer, unless that is all it would have by itself: so many settle a doubt."""
_MANY_SHAPES = 4
"""So many shapes make a score sure by themselves; those of a problem with fewer get more time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingBudget:
    """Lengths of batches, numbers of blocks and stopping criteria of one measurement.

    Times are in seconds; widths are half-widths of 95 % intervals relative to their values.
    """

    batch_s: float = 0.015
    """A batch lasts at least so long, where memory and ``max_block_s`` allow."""
    max_block_s: float = 0.12
    """Drawing, running and checking a batch takes no longer, if that leaves ``min_batch_s``."""
    min_batch_s: float = 0.005
    """A batch lasts at least so long, whatever a block takes."""
    null_batch_s: float = 0.012
    """A null batch waits as long as the calls of the other's, but no longer than this."""
    null_blocks: int = 4
    """Of ``min_blocks`` so many have null batches, which the others count with; all beyond have."""
    warm_s: float = 0.7
    """The first shape is warmed up for so long before blocks count."""
    min_blocks: int = 6
    """Fewer blocks are never enough."""
    max_blocks: int = 40
    """More are not taken."""
    target_rel_ci: float = 0.0025
    """Blocks are added until the score's interval is so narrow."""
    extend_rel_ci: float = 0.004
    """While it is wider than this, they are added beyond ``budget_s``."""
    max_ranked_rel_ci: float = 0.01
    """A score that stays wider is not ranked."""
    max_ranked_shape_rel_ci: float = 0.03
    """Nor is one with a shape whose speed-up stays wider."""
    budget_s: float = 0.8
    """Blocks are added for so long to reach ``target_rel_ci``."""
    max_s: float = 4.0
    """And for so long while wider than ``extend_rel_ci``."""
    ranked_s: float = 10.0
    """And for so long while wider than ``max_ranked_rel_ci``: short of it is not ranked."""
    baseline_kept_s: float = 0.0
    """The baseline's times, taken by itself, count for so long; 0: it is timed beside each."""
    memory_share: float = 0.3
    """The part of the free memory that the arena of one program may take, of two."""
    max_calls: int = 2500
    """Calls in a batch at most."""
    stretch: float = 3.0
    """Of a problem with fewer than four shapes each may take up to so many times as long."""
    min_looks: int = 48
    """Looks at calls at work, for reads before their turn, that are enough."""
    overlap_s: float = 0.6
    """Looks are taken for so long to get them."""
    min_isolated: int = 3
    """Blocks of isolated calls at least, of plain calls twice as many."""
    isolated_blocks: int = 60
    """Blocks of isolated calls at most; 0 for none."""
    isolated_s: float = 0.3
    """Isolated calls are timed for so long."""

    def for_shapes(self, count: int) -> "TimingBudget":
        """The budget of each of ``count`` shapes.

        Of all of them there are as many looks as three have by themselves: calls that overlap for
        a sixteenth of their time are seen by one look in sixteen, and on which shape makes no
        difference. And a shape may be less sure than the score, whose relative width is that of
        ``count`` shapes over the root of their number. Few shapes get longer batches, in which
        what the host adds makes less of a difference, more null batches, and more time for them.
        """
        share, wider = _SHAPES / count, math.sqrt(count)
        longer = max(1.0, min(self.stretch, _MANY_SHAPES / count))
        least = min(self.min_looks, _LEAST_LOOKS)
        return replace(
            self,
            min_looks=max(least, math.ceil(share * self.min_looks)),
            overlap_s=share * self.overlap_s,
            null_blocks=int(longer * self.null_blocks),
            max_block_s=longer * self.max_block_s,
            max_calls=int(longer * self.max_calls),
            budget_s=longer * self.budget_s,
            max_s=longer * self.max_s,
            target_rel_ci=min(wider * self.target_rel_ci, self.max_ranked_shape_rel_ci),
            extend_rel_ci=min(wider * self.extend_rel_ci, self.max_ranked_shape_rel_ci),
        )

    def quick(self) -> "TimingBudget":
        """For many files: what a third of the time buys, scores within about 1 %."""
        return replace(
            self,
            batch_s=0.01,
            max_block_s=0.08,
            null_batch_s=0.003,
            null_blocks=2,
            stretch=1.0,
            warm_s=0.2,
            min_blocks=4,
            target_rel_ci=0.009,
            extend_rel_ci=0.01,
            budget_s=0.4,
            max_s=0.8,
            ranked_s=2.5,
            min_looks=12,
            overlap_s=0.12,
            isolated_s=0.05,
        )

    def rough(self) -> "TimingBudget":
        """For a verdict and an idea of the time: a few short blocks, calls alone not timed.

        The baseline's times are five minutes old at most.
        """
        return replace(
            self.quick(),
            max_block_s=0.05,
            batch_s=0.005,
            null_blocks=1,
            warm_s=0.05,
            min_blocks=3,
            max_blocks=6,
            target_rel_ci=0.025,
            extend_rel_ci=0.05,
            budget_s=0.05,
            max_s=0.15,
            ranked_s=0.15,
            min_looks=4,
            overlap_s=0.05,
            isolated_blocks=0,
            baseline_kept_s=300.0,
        )


CPU_BUDGET = TimingBudget(
    batch_s=0.02,
    max_block_s=math.inf,
    null_batch_s=0.0,
    warm_s=0.0,
    min_blocks=3,
    max_blocks=3,
    budget_s=0.0,
    max_s=0.0,
    ranked_s=0.0,
    memory_share=0.15,
    max_calls=100,
    stretch=1.0,
    isolated_blocks=0,
)
"""Functional timing on a CPU: shown, never ranked with a GPU's, so a few batches are enough."""


def budget_for(
    device: Device, *, quick: bool = False, rough: bool = False, base: TimingBudget | None = None
) -> TimingBudget:
    """The budget of a measurement on ``device``; ``base`` in place of the one it has by default."""
    if not device.rankable:
        return base or CPU_BUDGET
    full = base or TimingBudget()
    if rough:
        return full.rough()
    return full.quick() if quick else full
