"""Each job once, whatever fails: by a made-up clock, without processes."""

import random

from hypothesis import given
from hypothesis import strategies as st

from harness.grading.dispatch import Dispatch, Failure


def fail(jobs: Dispatch, card: int, why: str, **how: bool) -> tuple[int, list[Failure]] | None:
    """The judge of a card fails, at the first of its jobs."""
    for job in jobs.held(card)[:1]:
        jobs.begun(card, job)
    return jobs.fail(card, why, **how)


def test_jobs_are_given_in_order_and_so_many_ahead() -> None:
    jobs = Dispatch(20, [0, 1], ahead=3)
    assert jobs.give(0) == [0, 1, 2]
    assert jobs.give(1) == [3, 4, 5]
    assert jobs.give(0) == []
    jobs.done(0, 0)
    assert jobs.give(0) == [6]


def test_a_card_that_is_idle_is_given_one_before_another_has_two() -> None:
    jobs = Dispatch(2, [0, 1], ahead=4)
    assert (jobs.give(0, 1), jobs.give(1, 1), jobs.give(0)) == ([0], [1], [])
    assert jobs.add() == 2
    assert jobs.give(0, 1) == []
    jobs.done(1, 1)
    assert (jobs.give(0, 1), jobs.give(1, 1)) == ([], [2])


def test_what_is_added_comes_after_all_others() -> None:
    jobs = Dispatch(2, [0], ahead=1)
    assert jobs.give(0) == [0]
    assert jobs.add() == 2
    jobs.done(0, 0)
    assert jobs.give(0) == [1]
    jobs.done(0, 1)
    assert not jobs.finished
    assert jobs.give(0) == [2]


def test_towards_the_end_cards_hold_fewer() -> None:
    """Else the last ones would wait for one card while the others have nothing to do."""
    jobs = Dispatch(8, [0, 1], ahead=6)
    assert jobs.give(0) == [0, 1, 2, 3]  # 4 wait: three each, and one that is graded
    assert jobs.give(1) == [4, 5]
    assert jobs.give(1) == []
    jobs.done(0, 0)
    assert jobs.give(0) == []  # it has three, and the other two
    jobs.done(1, 4)
    assert jobs.give(1) == [6]
    for number in (1, 2):
        jobs.done(0, number)
    assert jobs.give(0) == [7]


def test_what_waits_is_built_by_all_cards_alike() -> None:
    """Also where a card may hold no more: else its last files would be built when they are due."""
    jobs = Dispatch(9, [0, 1], ahead=4)
    assert (jobs.give(0, 1), jobs.give(1, 1)) == ([0], [1])
    assert jobs.build_ahead([0, 1]) == [(0, 2), (1, 3), (0, 4), (1, 5), (0, 6), (1, 7)]
    assert jobs.build_ahead([0, 1]) == []
    jobs.done(0, 0)
    assert jobs.build_ahead([0, 1]) == [(0, 8)]
    assert jobs.build_ahead([]) == []


def test_no_card_builds_more_because_another_may_have_nothing() -> None:
    jobs = Dispatch(30, [0, 1, 2], ahead=3)
    for _ in range(2):
        assert len(jobs.give(0, 1)) == 1
        fail(jobs, 0, "killed")
    assert jobs.give(0) == []  # until it is known whose fault it was
    built = jobs.build_ahead([0, 1, 2])
    assert sorted(card for card, _ in built) == [1, 1, 1, 2, 2, 2]
    assert jobs.build_ahead([0, 1, 2]) == []


def test_a_card_is_given_what_it_builds_before_what_another_builds() -> None:
    jobs = Dispatch(5, [0, 1], ahead=3)
    assert (jobs.give(0, 1), jobs.give(1, 1)) == ([0], [1])
    assert jobs.build_ahead([0, 1]) == [(0, 2), (1, 3), (0, 4)]
    jobs.done(1, 1)
    assert jobs.give(1, 1) == [3]
    jobs.done(1, 3)
    assert jobs.give(1, 1) == [2]  # rather than nothing
    jobs.done(0, 0)
    assert jobs.give(0, 1) == [4]


def test_what_the_judge_of_a_card_was_to_build_is_built_by_the_next() -> None:
    jobs = Dispatch(5, [0, 1], ahead=3)
    assert (jobs.give(0, 1), jobs.give(1, 1)) == ([0], [1])
    assert jobs.build_ahead([0, 1]) == [(0, 2), (1, 3), (0, 4)]
    fail(jobs, 0, "killed")
    assert jobs.build_ahead([0]) == [(0, 2), (0, 4)]  # what failed there is not for this card
    jobs.drop(lambda job: job == 4)
    assert jobs.build_ahead([1]) == [(1, 0)]


def test_a_failure_is_that_of_the_job_that_a_card_was_at() -> None:
    jobs = Dispatch(3, [0, 1], ahead=3)
    assert jobs.give(0) == [0, 1]
    jobs.begun(0, 1)
    assert jobs.held(0) == [1, 0]
    jobs.fail(0, "killed")
    assert jobs.give(0) == [0, 2]
    assert jobs.give(1) == [1]


def test_a_job_that_no_judge_had_begun_is_tried_twice_as_often() -> None:
    """A judge that is killed just when it is given a job is not killed by it."""
    jobs = Dispatch(1, [0, 1, 2], ahead=1)
    for card in (0, 1, 2):
        assert jobs.give(card) == [0]
        assert jobs.fail(card, "killed") is None
    assert jobs.give(0) == [0]
    assert jobs.fail(0, "killed") == (0, [Failure(c, "killed", begun=False) for c in (0, 1, 2, 0)])
    assert jobs.left_out == {}


def test_one_that_was_begun_once_is_tried_twice_more_where_it_was_not() -> None:
    jobs = Dispatch(2, [0, 1, 2], ahead=1)
    assert jobs.give(0) == [0]
    jobs.begun(0, 0)
    assert jobs.fail(0, "killed") is None
    assert jobs.give(1) == [0]
    assert jobs.fail(1, "killed") is None
    assert jobs.give(2) == [0]
    assert jobs.fail(2, "gone", lost=True) is not None  # what it had begun is not known
    assert jobs.give(2) == [1]
    jobs.begun(2, 1)
    jobs.done(2, 1)
    assert jobs.finished


def test_a_failed_job_goes_to_another_card_and_those_behind_it_are_not_blamed() -> None:
    jobs = Dispatch(6, [0, 1], ahead=2)
    assert (jobs.give(0), jobs.give(1)) == ([0, 1], [2, 3])
    assert fail(jobs, 0, "killed") is None
    assert jobs.give(0) == [1, 4]
    jobs.done(1, 2)
    assert jobs.give(1) == [0]
    assert fail(jobs, 1, "killed") is None  # 3 was at work
    assert jobs.left_out == {}


def test_a_job_that_fails_on_two_cards_is_not_tried_again_and_no_card_is_to_blame() -> None:
    jobs = Dispatch(3, [0, 1], ahead=1)
    for number in range(3):
        assert jobs.give(0) == [number]
        assert fail(jobs, 0, "first") is None
        assert jobs.give(1) == [number]
        assert fail(jobs, 1, "second") == (number, [Failure(0, "first"), Failure(1, "second")])
    assert jobs.finished
    assert jobs.left_out == {}


def test_a_card_that_fails_twice_is_left_out_and_its_jobs_go_to_the_others() -> None:
    jobs = Dispatch(5, [0, 1], ahead=2)
    assert (jobs.give(0), jobs.give(1)) == ([0, 1], [2, 3])
    assert fail(jobs, 0, "once") is None
    assert jobs.give(0) == [1, 4]
    assert fail(jobs, 0, "twice") is None
    done, left_out = [], []
    while not jobs.finished:
        assert jobs.give(0) == []  # until it is known whose fault it was
        jobs.give(1)
        done.append(jobs.held(1)[0])
        left_out += jobs.done(1, done[-1])
    assert sorted(done) == [0, 1, 2, 3, 4]
    assert left_out == [0]
    assert jobs.left_out == {0: "twice"}


def test_a_card_on_which_two_bad_jobs_fail_waits_for_what_the_others_say_of_them() -> None:
    jobs = Dispatch(5, [0, 1, 2], ahead=1)
    assert (jobs.give(0), jobs.give(1), jobs.give(2)) == ([0], [1], [2])
    fail(jobs, 0, "killed")
    assert jobs.give(0) == [3]
    fail(jobs, 0, "killed")
    assert jobs.give(0) == []
    fail(jobs, 1, "killed")
    assert jobs.give(0) == [1]  # this one can be compared
    assert jobs.give(1) == [3]
    assert fail(jobs, 1, "killed") == (3, [Failure(0, "killed"), Failure(1, "killed")])
    assert jobs.done(0, 1) == []
    assert jobs.left_out == {}
    assert jobs.give(0) == [4]


def test_what_a_card_holds_when_it_is_left_out_goes_to_the_others() -> None:
    jobs = Dispatch(4, [0, 1, 2], ahead=1)
    assert (jobs.give(0), jobs.give(1), jobs.give(2)) == ([0], [1], [2])
    fail(jobs, 0, "once")
    assert jobs.give(0) == [3]
    fail(jobs, 0, "twice")
    fail(jobs, 1, "killed")
    assert (jobs.give(0), jobs.give(1)) == ([1], [3])
    assert jobs.done(1, 3) == []
    assert jobs.give(1) == [0]
    assert jobs.done(1, 0) == [0]
    jobs.done(2, 2)
    assert jobs.give(2) == [1]
    jobs.done(2, 1)
    assert jobs.finished


def test_a_grade_between_two_failures_clears_a_card() -> None:
    jobs = Dispatch(9, [0, 1], ahead=1)
    jobs.give(1)
    for _ in range(3):
        job = jobs.give(0)[0]
        fail(jobs, 0, "sometimes")
        jobs.done(1, jobs.held(1)[0])
        assert jobs.give(1) == [job]
        jobs.done(0, jobs.give(0)[0])
    assert jobs.left_out == {}


def test_a_judge_that_does_not_start_costs_no_job() -> None:
    jobs = Dispatch(2, [0], ahead=2)
    jobs.give(0)
    assert fail(jobs, 0, "no context", at_work=False) is None
    assert jobs.give(0) == [0, 1]
    assert fail(jobs, 0, "no context", at_work=False) is None
    assert jobs.left_out == {0: "no context"}
    assert not jobs.finished


def test_one_card_alone_tries_a_job_twice_and_goes_on() -> None:
    jobs = Dispatch(2, [0], ahead=1)
    assert jobs.give(0) == [0]
    assert fail(jobs, 0, "a") is None
    assert jobs.give(0) == [0]
    assert fail(jobs, 0, "b") == (0, [Failure(0, "a"), Failure(0, "b")])
    assert jobs.left_out == {}
    assert jobs.give(0) == [1]
    assert fail(jobs, 0, "c") is None
    assert jobs.left_out == {0: "c"}


def test_nothing_waits_for_a_card_that_may_never_come() -> None:
    jobs = Dispatch(4, [0, 1], ahead=1)
    jobs.away = {1}
    assert jobs.give(1) == []
    assert jobs.give(0) == [0]
    fail(jobs, 0, "killed")
    assert jobs.give(0) == [0]  # there is nowhere else
    jobs.done(0, 0)
    assert jobs.give(0) == [1]
    fail(jobs, 0, "killed")
    jobs.away = set()
    assert jobs.give(0) == [2]
    assert jobs.give(1) == [1]


def test_what_is_dropped_is_given_to_nobody() -> None:
    jobs = Dispatch(6, [0], ahead=1)
    jobs.give(0)
    assert jobs.drop(lambda job: job % 2 == 0) == [2, 4]
    jobs.done(0, 0)
    assert jobs.give(0) == [1]


@given(
    total=st.integers(0, 60),
    cards=st.integers(1, 8),
    ahead=st.integers(1, 9),
    seed=st.integers(0, 1 << 30),
    fails=st.floats(0, 0.7),
)
def test_each_job_ends_once(total: int, cards: int, ahead: int, seed: int, fails: float) -> None:
    chance = random.Random(seed)
    jobs = Dispatch(total, range(cards), ahead)
    ended: list[int] = []
    while not jobs.finished and jobs.live:
        for card in jobs.live:
            jobs.give(card)
        built = [job for _, job in jobs.build_ahead(jobs.live)]
        assert len(set(built)) == len(built)
        busy = [card for card in jobs.live if jobs.held(card)]
        assert busy, "somebody can go on"
        card = chance.choice(busy)
        jobs.begun(card, chance.choice(jobs.held(card)))
        if chance.random() < fails:
            given_up = fail(jobs, card, "killed", at_work=chance.random() < 0.9)
            ended += [] if given_up is None else [given_up[0]]
        else:
            ended.append(jobs.held(card)[0])
            jobs.done(card, ended[-1])
    assert len(ended) == len(set(ended))
    if jobs.live:
        assert sorted(ended) == list(range(total))
    else:
        assert set(ended) <= set(range(total))


@given(
    total=st.integers(0, 40),
    cards=st.integers(3, 6),
    ahead=st.integers(1, 4),
    killers=st.sets(st.integers(0, 39)),
    bad=st.sampled_from([None, 0, 1]),
    seed=st.integers(0, 1 << 30),
)
def test_a_bad_card_costs_no_job_and_bad_jobs_cost_no_card(
    total: int, cards: int, ahead: int, killers: set[int], bad: int | None, seed: int
) -> None:
    chance = random.Random(seed)
    jobs = Dispatch(total, range(cards), ahead)
    graded: set[int] = set()
    given_up: set[int] = set()
    while not jobs.finished:
        for card in chance.sample(jobs.live, len(jobs.live)):
            jobs.give(card)
        card = chance.choice([card for card in jobs.live if jobs.held(card)])
        job = jobs.held(card)[0]
        if card == bad or job in killers:
            failed = fail(jobs, card, "killed")
            given_up |= set() if failed is None else {failed[0]}
        else:
            graded.add(job)
            jobs.done(card, job)
    assert given_up == killers & set(range(total))
    assert graded == set(range(total)) - killers
    assert jobs.left_out.keys() <= {bad}
