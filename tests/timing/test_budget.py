"""Budgets of measurements, and which one a device gets."""

import math
from dataclasses import replace

import pytest

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


def test_all_shapes_together_are_looked_at_as_often_as_three() -> None:
    budget = replace(TimingBudget(), min_looks=20, overlap_s=0.5)
    looks = [budget.for_shapes(count).min_looks for count in (1, 2, 3, 5, 9)]
    assert looks == [60, 30, 20, 12, 8]
    assert [budget.for_shapes(count).overlap_s for count in (1, 3, 6)] == [1.5, 0.5, 0.25]
    few = replace(budget, min_looks=4)
    assert [few.for_shapes(count).min_looks for count in (1, 3, 9)] == [12, 4, 4]


def test_few_shapes_get_longer_batches_and_more_time() -> None:
    full = TimingBudget()
    for count, longer, null_blocks in ((1, 3, 12), (2, 2, 8), (3, 4 / 3, 5), (4, 1, 4), (9, 1, 4)):
        budget = full.for_shapes(count)
        for name in ("max_block_s", "max_calls", "budget_s", "max_s"):
            expected = pytest.approx(longer * getattr(full, name), rel=1e-3)
            assert getattr(budget, name) == expected, (count, name)
        assert budget.null_blocks == null_blocks
        quick = full.quick().for_shapes(count)
        assert (quick.max_block_s, quick.max_calls) == (full.quick().max_block_s, full.max_calls)
        assert CPU_BUDGET.for_shapes(count).max_calls == CPU_BUDGET.max_calls


@pytest.mark.parametrize("quick", [False, True])
def test_a_shape_need_be_as_sure_as_makes_the_score_sure(quick: bool) -> None:
    budget = budget_for(Rankable(), quick=quick)
    for count in (1, 3, 4, 9):
        of_each = budget.for_shapes(count)
        assert of_each.target_rel_ci / math.sqrt(count) == pytest.approx(budget.target_rel_ci)
        assert of_each.extend_rel_ci <= budget.max_ranked_shape_rel_ci
        assert of_each.max_ranked_rel_ci == budget.max_ranked_rel_ci
    assert budget.for_shapes(400).target_rel_ci == budget.max_ranked_shape_rel_ci
    assert budget.target_rel_ci < budget.extend_rel_ci <= budget.max_ranked_rel_ci
