"""Which blocks have null batches of their own, and with which the others count."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.timing.budget import TimingBudget
from harness.timing.null_batches import in_turn, is_due

FEW = st.integers(1, 12)


def due(null_blocks: int, min_blocks: int, blocks: int) -> list[bool]:
    """Of each of ``blocks`` whether it has a null batch."""
    budget = replace(TimingBudget(), null_blocks=null_blocks, min_blocks=min_blocks)
    found: list[bool] = []
    for number in range(1, blocks + 1):
        found.append(is_due(sum(found), number, budget))
    return found


@given(FEW, FEW, st.integers(1, 40))
def test_the_first_of_the_least_blocks_have_null_batches_and_all_beyond(
    null_blocks: int, min_blocks: int, blocks: int
) -> None:
    found = due(null_blocks, min_blocks, blocks)
    assert found == [n < null_blocks or n >= min_blocks for n in range(blocks)]


def test_a_null_batch_that_is_not_taken_is_due_again() -> None:
    budget = replace(TimingBudget(), null_blocks=2, min_blocks=6)
    assert [is_due(taken, 4, budget) for taken in (0, 1, 2, 3)] == [True, True, False, False]


@given(FEW, st.integers(1, 9))
def test_blocks_without_count_with_each_null_batch_as_often(count: int, rounds: int) -> None:
    used = Counter(in_turn(range(count), block) for block in range(7, 7 + count * rounds))
    assert used == Counter(dict.fromkeys(range(count), rounds))
