"""The best recorded solution as a baseline: which one it is, and what is said of it."""

import math

import pytest
from support.samples import START, failed, result, score, unranked

from harness.records.measurement import Interval
from harness.records.refs import DeviceRef
from harness.records.result import Result
from leaderboard.best import with_best


def _over(mine: Result, *recorded: Result) -> tuple[str, float] | None:
    found = with_best(mine, recorded)
    assert found.score is not None
    assert Result.from_json(found.to_json()) == found
    if not found.score.other_baselines:
        assert found == mine
        return None
    (other,) = found.score.other_baselines
    return other.result, other.speedup.value


def test_the_best_of_the_board_is_named_with_its_date() -> None:
    mine = result(speedup=1.0, relative=0.003)
    best = result(id="best", author="bob", name="fast.cu", speedup=2.0, relative=0.004, minutes=1)
    with_it = with_best(mine, [result(author="carol", speedup=1.5), best])
    assert with_it.score is not None
    (other,) = with_it.score.other_baselines
    assert (other.baseline, other.result, other.recorded_at) == (
        "bob/fast.cu",
        "best",
        best.created,
    )
    assert best.created > START
    assert other.speedup.value == pytest.approx(0.5)
    assert math.log(other.speedup.high / other.speedup.value) == pytest.approx(0.005)
    # Nothing else has changed, what decides the rank least of all.
    assert with_it.score.model_copy(update={"other_baselines": ()}) == mine.score


@pytest.mark.parametrize(
    "other",
    [
        failed(),
        unranked(speedup=9.0),
        result(speedup=9.0, problem="relu"),
        result(speedup=9.0, problem_hash="p0"),
        result(speedup=9.0, dtype="float16"),
        result(speedup=9.0, device=DeviceRef(kind="cuda", name="NVIDIA L4")),
        result(speedup=9.0, harness="1.0.0"),
        result(score=score(9.0, baseline="cuBLAS")),
        result(speedup=9.0, solution_hash="mine"),
    ],
)
def test_what_is_not_its_rival_does_not_count(other: Result) -> None:
    mine = result(solution_hash="mine")
    assert _over(mine, other) is None
    assert _over(mine, other, result(id="rival", speedup=2.62)) == ("rival", pytest.approx(0.5))


def test_one_that_is_beaten_is_still_the_best_of_the_others() -> None:
    assert _over(result(speedup=3.0), result(id="old", speedup=1.5)) == ("old", pytest.approx(2.0))


def test_results_without_a_time_are_left_as_they_are() -> None:
    for mine in (failed(), result(measurements=(), score=None)):
        assert with_best(mine, [result(speedup=9.0)]) == mine


def test_an_unknown_interval_stays_unknown() -> None:
    open_end = Interval(value=1.0, low=0.0, high=math.inf)
    mine = result(score=score(ranked=False, unranked_reason="one block", speedup=1.0))
    assert mine.score is not None
    mine = mine.model_copy(update={"score": mine.score.model_copy(update={"speedup": open_end})})
    shown = with_best(mine, [result(speedup=2.0)]).score
    assert shown is not None
    assert (shown.other_baselines[0].speedup.low, shown.other_baselines[0].speedup.high) == (
        0.0,
        math.inf,
    )
