"""How long to measure."""

import math

from harness.timing.budget import CPU_EFFORT, Effort


def test_cpu_effort_is_small() -> None:
    assert CPU_EFFORT.max_blocks <= 5
    assert CPU_EFFORT.batch_s * CPU_EFFORT.max_blocks < 0.5


def test_quick_spends_less_and_ranks_by_the_same_rule() -> None:
    full, quick = Effort(), Effort().quick()
    spent = ("batch_s", "warm_s", "min_blocks", "budget_s", "patience_s", "least_alone", "alone_s")
    assert all(getattr(quick, name) < getattr(full, name) for name in spent)
    assert (quick.rankable, quick.rankable_shape) == (full.rankable, full.rankable_shape)
    # The interval of a score over three shapes is that of one over √3.
    assert quick.tight / math.sqrt(3) < quick.rankable
    assert quick.alone_blocks > 0
