"""Budgets of measurements, and which one a device gets."""

import math
from dataclasses import replace

from harness.device.cpu import CpuDevice
from harness.timing.budget import CPU_BUDGET, TimingBudget, budget_for


def test_the_cpu_budget_is_small() -> None:
    assert CPU_BUDGET.max_blocks <= 5
    assert CPU_BUDGET.batch_s * CPU_BUDGET.max_blocks < 0.5


def test_quick_spends_less_and_ranks_by_the_same_rule() -> None:
    full, quick = TimingBudget(), TimingBudget().quick()
    spent = ("batch_s", "warm_s", "min_blocks", "budget_s", "max_s", "isolated_s")
    assert all(getattr(quick, name) < getattr(full, name) for name in spent)
    assert (quick.max_ranked_rel_ci, quick.max_ranked_shape_rel_ci) == (
        full.max_ranked_rel_ci,
        full.max_ranked_shape_rel_ci,
    )
    # The interval of a score over three shapes is that of one over √3.
    assert quick.target_rel_ci / math.sqrt(3) < quick.max_ranked_rel_ci
    assert quick.isolated_blocks > 0


class Rankable(CpuDevice):
    """The host, as if its times stood on a board."""

    rankable = True


def test_budget_for_follows_whether_times_are_ranked() -> None:
    assert budget_for(CpuDevice()) == budget_for(CpuDevice(), quick=True) == CPU_BUDGET
    assert budget_for(Rankable()) == TimingBudget()
    assert budget_for(Rankable(), quick=True) == TimingBudget().quick()


def test_budget_for_takes_another_budget_in_place_of_the_default() -> None:
    own = replace(TimingBudget(), max_blocks=7)
    assert budget_for(CpuDevice(), quick=True, base=own) == own
    assert budget_for(Rankable(), base=own) == own
    assert budget_for(Rankable(), quick=True, base=own) == own.quick()


def test_few_shapes_are_looked_at_as_often_as_three() -> None:
    budget = replace(TimingBudget(), min_looks=10, overlap_s=0.5)
    assert [budget.for_shapes(count).min_looks for count in (1, 2, 3, 5)] == [30, 15, 10, 10]
    assert budget.for_shapes(1) == replace(budget, min_looks=30, overlap_s=1.5)
    assert budget.for_shapes(5) == budget
