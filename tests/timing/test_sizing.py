"""How many calls batches have."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fake_sessions import BUDGET

from harness.timing.budget import CPU_BUDGET, TimingBudget
from harness.timing.sizing import choose_calls, even_out


class TestChooseCalls:
    def test_enough_calls_to_drown_the_overhead(self) -> None:
        assert choose_calls(1e-3, 0.0, 100, BUDGET) == 20
        assert choose_calls(0.7e-3, 0.0, 100, BUDGET) == 29
        assert choose_calls(5.0, 0.0, 100, BUDGET) == 1

    def test_never_more_than_the_limit(self) -> None:
        assert choose_calls(0.0, 0.0, 10**6, BUDGET) == BUDGET.max_calls

    def test_never_more_than_there_is_room_for(self) -> None:
        assert choose_calls(1e-9, 0.0, 3, BUDGET) == 3
        assert choose_calls(1e-9, 0.0, 0, BUDGET) == 1

    def test_no_more_than_there_is_time_to_check(self) -> None:
        budget = replace(BUDGET, max_block_s=0.2, min_batch_s=0.005)
        assert choose_calls(1e-3, 20e-3, 100, budget) == 10
        assert choose_calls(1e-3, 5e-3, 100, budget) == 20
        assert choose_calls(1e-3, 200e-3, 100, budget) == 5

    @given(seconds=st.floats(0, 1e3), all_s=st.floats(0, 1e3), room=st.integers(0, 10**6))
    @pytest.mark.parametrize("budget", [TimingBudget(), TimingBudget().quick(), CPU_BUDGET])
    def test_choose_calls_is_within_its_limits(
        self, budget: TimingBudget, seconds: float, all_s: float, room: int
    ) -> None:
        assert 1 <= choose_calls(seconds, all_s, room, budget) <= budget.max_calls


COUNTS = st.integers(1, 5000)


class TestEvenOut:
    @given(one=COUNTS, other=COUNTS, call_s=st.floats(1e-7, 10), times=st.floats(1, 1.24))
    def test_programs_that_take_about_as_long_get_the_fewer_calls(
        self, one: int, other: int, call_s: float, times: float
    ) -> None:
        for both in ([call_s, times * call_s], [times * call_s, call_s]):
            assert even_out([one, other], both) == [min(one, other)] * 2

    @given(one=COUNTS, other=COUNTS, call_s=st.floats(1e-7, 10), times=st.floats(1.26, 1e3))
    def test_others_get_what_they_need(
        self, one: int, other: int, call_s: float, times: float
    ) -> None:
        for both in ([call_s, times * call_s], [times * call_s, call_s]):
            assert even_out([one, other], both) == [one, other]

    def test_one_alone_gets_what_it_needs(self) -> None:
        assert even_out([7], [1e-3]) == [7]
