"""How long to measure."""

import math

from harness.timing.budget import CPU_BUDGET, TimingBudget


def test_cpu_effort_is_small() -> None:
    assert CPU_BUDGET.max_blocks <= 5
    assert CPU_BUDGET.batch_s * CPU_BUDGET.max_blocks < 0.5


def test_quick_spends_less_and_ranks_by_the_same_rule() -> None:
    full, quick = TimingBudget(), TimingBudget().quick()
    spent = ("batch_s", "warm_s", "min_blocks", "budget_s", "max_s", "min_isolated", "isolated_s")
    assert all(getattr(quick, name) < getattr(full, name) for name in spent)
    assert (quick.max_ranked_rel_ci, quick.max_ranked_shape_rel_ci) == (
        full.max_ranked_rel_ci,
        full.max_ranked_shape_rel_ci,
    )
    # The interval of a score over three shapes is that of one over √3.
    assert quick.target_rel_ci / math.sqrt(3) < quick.max_ranked_rel_ci
    assert quick.isolated_blocks > 0
