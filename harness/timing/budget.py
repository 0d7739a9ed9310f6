"""How long to measure."""

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingBudget:
    """How long to measure; seconds, relative half-widths.

    A batch lasts at least ``batch_s``, but for two reasons: there is memory for fewer calls, or to
    draw, run and check it would take longer than ``max_block_s``; then ``min_batch_s`` will do. A blank one
    waits as long as others' calls take, ``null_batch_s`` at most. The first shape is warmed up for
    ``warm_s``. Blocks are added until the interval of the speed-up is within ``target_rel_ci``, for
    ``budget_s``, and on for ``max_s`` while it is wider than ``extend_rel_ci``. What is not ranked is a
    score that stays wider than ``max_ranked_rel_ci``, or a shape's speed-up wider than ``max_ranked_shape_rel_ci``.
    Last, a call is timed alone, in ``min_isolated`` to ``isolated_blocks`` blocks, for ``isolated_s``
    seconds.
    """

    batch_s: float = 0.025
    max_block_s: float = 0.2
    min_batch_s: float = 0.005
    null_batch_s: float = 0.03
    warm_s: float = 0.7
    min_blocks: int = 6
    max_blocks: int = 40
    target_rel_ci: float = 0.0025
    extend_rel_ci: float = 0.005
    max_ranked_rel_ci: float = 0.01
    max_ranked_shape_rel_ci: float = 0.03
    budget_s: float = 0.8
    max_s: float = 1.7
    memory_share: float = 0.2
    max_calls: int = 1000
    min_isolated: int = 10
    isolated_blocks: int = 60
    isolated_s: float = 0.3

    def quick(self) -> "TimingBudget":
        """For many files: what a third of the time buys, scores within about 1 %."""
        return replace(
            self,
            batch_s=0.01,
            max_block_s=0.15,
            null_batch_s=0.0,
            warm_s=0.2,
            min_blocks=4,
            target_rel_ci=0.015,
            extend_rel_ci=0.02,
            budget_s=0.4,
            max_s=0.8,
            min_isolated=6,
            isolated_s=0.05,
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
    memory_share=0.15,
    max_calls=100,
    isolated_blocks=0,
)
"""Functional timing on a CPU: shown, never ranked with a GPU's, so a few batches are enough."""
