import pytest

from benchmarks.coverage import MODELS, coverage
from harness.timing.budget import TimingBudget


@pytest.mark.corpus
@pytest.mark.parametrize("model", MODELS)
def test_intervals_cover_the_truth_where_noise_is_not_the_same_for_a_whole_grade(
    model: str,
) -> None:
    found = coverage(model, TimingBudget(), grades=40)
    if model == "two states":
        assert found.covered < 0.8
        assert found.sigma_beyond > 0.003
    else:
        assert found.covered >= 0.85
    assert found.covered_with_sigma >= 0.85
    assert found.blocks >= TimingBudget().min_blocks


def test_the_same_seed_gives_the_same_grades() -> None:
    one, two = (coverage("late", TimingBudget(), grades=3, seed=5) for _ in range(2))
    assert one == two
