"""How long to measure."""

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure; seconds, relative half-widths.

    A batch lasts at least ``batch_s``, but for two reasons: there is memory for fewer calls, or to
    draw, run and check it would take longer than ``block_s``; then ``short_s`` will do. A blank one
    waits as long as others' calls take, ``blank_s`` at most. The first shape is warmed up for
    ``warm_s``. Blocks are added until the interval of the speed-up is within ``tight``, for
    ``budget_s``, and on for ``patience_s`` while it is wider than ``wide``. What is not ranked is a
    score that stays wider than ``rankable``, or a shape's speed-up wider than ``rankable_shape``.
    Last, a call is timed alone, in ``least_alone`` to ``alone_blocks`` blocks, for ``alone_s``
    seconds.
    """

    batch_s: float = 0.025
    block_s: float = 0.2
    short_s: float = 0.005
    blank_s: float = 0.03
    warm_s: float = 0.7
    min_blocks: int = 6
    max_blocks: int = 40
    tight: float = 0.0025
    wide: float = 0.005
    rankable: float = 0.01
    rankable_shape: float = 0.03
    budget_s: float = 0.8
    patience_s: float = 1.7
    memory_share: float = 0.2
    max_calls: int = 1000
    least_alone: int = 10
    alone_blocks: int = 60
    alone_s: float = 0.3

    def quick(self) -> "Effort":
        """For many files: what a third of the time buys, scores within about 1 %."""
        return replace(
            self,
            batch_s=0.01,
            block_s=0.15,
            blank_s=0.0,
            warm_s=0.2,
            min_blocks=4,
            tight=0.015,
            wide=0.02,
            budget_s=0.4,
            patience_s=0.8,
            least_alone=6,
            alone_s=0.05,
        )


CPU_EFFORT = Effort(
    batch_s=0.02,
    block_s=math.inf,
    blank_s=0.0,
    warm_s=0.0,
    min_blocks=3,
    max_blocks=3,
    budget_s=0.0,
    patience_s=0.0,
    memory_share=0.15,
    max_calls=100,
    alone_blocks=0,
)
"""Functional timing on a CPU: shown, never ranked with a GPU's, so a few batches are enough."""
