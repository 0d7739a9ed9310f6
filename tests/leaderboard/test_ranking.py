"""Boards: who is on them, in which order, and with which rank."""

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.samples import START, failed, result, score, unranked

from harness.records.refs import DeviceRef
from harness.records.result import Result, Verdict
from leaderboard import ranking
from leaderboard.entry import entry
from leaderboard.ranking import COLUMNS, board, rows
from leaderboard.spread import GRADE_SPREAD
from leaderboard.ties import MARGIN, Z95, beats, ranks, standard_errors

CPU = DeviceRef(kind="cpu", name="AMD EPYC 9654")


def _ranks(made: pd.DataFrame) -> dict[str, int | None]:
    return {row.author: row.rank for row in rows(made)}


def test_the_columns_and_their_types_are_those_documented() -> None:
    for made in (board([]), board([result()])):
        assert list(made.columns) == list(COLUMNS)
        # pandas 2 keeps "str" as object.
        kinds = [pd.Series([], dtype=kind).dtype for kind in COLUMNS.values()]
        assert list(made.dtypes) == kinds


def test_a_row_says_everything() -> None:
    (row,) = rows(board([result(id="r", speedup=2.0, harness="1.4.2", solution_hash="s")]))
    assert row.cells() == {
        "problem": "gemm",
        "dtype": "float32",
        "device_kind": "cuda",
        "device": "NVIDIA H100 80GB HBM3",
        "harness_major": "1",
        "baseline": "PyTorch eager",
        "rank": 1,
        "author": "alice",
        "solution": "tiled.cu",
        "language": "cuda",
        "time_us": pytest.approx(12.3),
        "speedup": 2.0,
        "speedup_low": pytest.approx(2.0 * math.exp(-0.002)),
        "speedup_high": pytest.approx(2.0 * math.exp(0.002)),
        "unranked_reason": "",
        "date": START,
        "problem_hash": "p1",
        "solution_hash": "s",
        "harness": "1.4.2",
        "result": "r",
        "sol_fraction": None,
        "grade_spread": GRADE_SPREAD,
        "origin": "",
        "libraries": "",
    }


def test_ties_share_and_the_next_rank_is_skipped() -> None:
    entries = [
        result(author="a", speedup=2.000),
        result(author="b", speedup=2.008),  # 0.4 %: less than the margin
        result(author="c", speedup=1.500),
    ]
    made = board(entries)
    assert made["author"].tolist() == ["b", "a", "c"]
    assert _ranks(made) == {"b": 1, "a": 1, "c": 3}


def test_wide_intervals_tie_where_narrow_ones_do_not() -> None:
    narrow = [result(author=a, speedup=s, relative=0.001) for a, s in (("a", 2.0), ("b", 2.02))]
    wide = [result(author=a, speedup=s, relative=0.01) for a, s in (("a", 2.0), ("b", 2.02))]
    assert _ranks(board(narrow)) == {"b": 1, "a": 2}
    assert _ranks(board(wide)) == {"b": 1, "a": 1}


def test_only_the_best_of_an_author_unless_all_are_wanted() -> None:
    entries = [
        result(author="a", name="slow.cu", speedup=1.0),
        result(author="a", name="fast.cu", speedup=3.0),
        result(author="b", speedup=2.0),
    ]
    assert board(entries)["solution"].tolist() == ["fast.cu", "tiled.cu"]
    assert _ranks(board(entries)) == {"a": 1, "b": 2}
    everything = board(entries, all_entries=True)
    assert everything["rank"].tolist() == [1, 2, 3]
    assert everything["author"].tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("newer", [1.2, 2.0])
def test_the_newest_result_of_a_solution_replaces_the_older(newer: float) -> None:
    entries = [
        result(solution_hash="same", speedup=1.5, minutes=0),
        result(solution_hash="same", speedup=newer, minutes=1),
    ]
    for everything in (False, True):
        (row,) = rows(board(entries, all_entries=everything))
        assert row.speedup == newer


def test_a_newer_failure_withdraws_the_solution() -> None:
    entries = [
        result(author="a", solution_hash="lucky", speedup=9.0, minutes=0),
        failed(author="a", solution_hash="lucky", minutes=1),
        result(author="a", solution_hash="sound", speedup=2.0, minutes=0),
    ]
    (row,) = rows(board(entries))
    assert row.solution_hash == "sound"


@pytest.mark.parametrize("verdict", [Verdict.INTERNAL_ERROR, Verdict.NOT_EXECUTABLE_HERE])
def test_a_newer_fault_of_the_machine_withdraws_nothing(verdict: Verdict) -> None:
    entries = [
        result(solution_hash="same", minutes=0),
        failed(verdict, solution_hash="same", minutes=1),
    ]
    assert len(board(entries)) == 1


def test_a_failure_of_one_author_does_not_withdraw_anothers_copy() -> None:
    entries = [result(author="a", solution_hash="x"), failed(author="b", solution_hash="x")]
    assert _ranks(board(entries)) == {"a": 1}


def test_failures_are_not_listed() -> None:
    assert not len(board([failed(), failed(Verdict.COMPILE_ERROR)]))


def test_unranked_entries_are_listed_below_with_their_reason() -> None:
    made = board([unranked("clocks moved", author="a", speedup=9.0), result(author="b")])
    assert made["author"].tolist() == ["b", "a"]
    assert _ranks(made) == {"b": 1, "a": None}
    assert made["unranked_reason"].tolist() == ["", "clocks moved"]


def test_an_authors_ranked_entry_goes_before_a_better_unranked_one() -> None:
    made = board([unranked(author="a", speedup=9.0), result(author="a", speedup=2.0)])
    assert made["speedup"].tolist() == [2.0]


def test_an_untimed_result_is_listed_without_numbers() -> None:
    (row,) = rows(board([result(measurements=(), score=None)]))
    assert (row.rank, row.speedup, row.unranked_reason) == (None, None, "not timed")


def test_only_the_newest_version_of_a_problem_is_ranked() -> None:
    entries = [
        result(author="a", problem_hash="v1", speedup=9.0, minutes=0),
        result(author="b", problem_hash="v2", speedup=1.5, minutes=1),
        result(author="b", problem_hash="v1", speedup=8.0, minutes=0),
        result(author="c", problem_hash="v2", speedup=1.2, minutes=1),
    ]
    made = board(entries)
    assert _ranks(made) == {"b": 1, "c": 2, "a": None}
    assert "another version of the problem" in str(made["unranked_reason"][2])


def test_a_late_result_of_an_old_version_does_not_bring_it_back() -> None:
    entries = [
        result(author="a", problem_hash="v1", minutes=0),
        result(author="b", problem_hash="v2", minutes=1),
        result(author="c", problem_hash="v1", minutes=2),
    ]
    assert _ranks(board(entries)) == {"b": 1, "a": None, "c": None}


def test_a_failure_shows_that_a_version_is_newer() -> None:
    entries = [
        result(author="a", problem_hash="v1", minutes=0),
        failed(author="b", problem_hash="v2", minutes=1),
    ]
    assert _ranks(board(entries)) == {"a": None}


def test_the_caller_may_know_the_current_version() -> None:
    entries = [
        result(author="a", problem_hash="v1", minutes=0),
        result(author="b", problem_hash="v2", minutes=1),
        result(author="c", problem="relu", problem_hash="x"),
    ]
    made = board(entries, current={"gemm": "v1"})
    assert _ranks(made) == {"a": 1, "b": None, "c": 1}
    assert _ranks(board(entries, current={"gemm": "v3"})) == {"a": None, "b": None, "c": 1}


@pytest.mark.parametrize(
    "other",
    [
        {"problem": "relu"},
        {"dtype": "float16"},
        {"device": CPU},
        {"device": DeviceRef(kind="cuda", name="NVIDIA L4")},
        {"harness": "1.0.0"},
        {"score": score(baseline="cuBLAS")},
    ],
)
def test_other_devices_dtypes_and_baselines_are_other_boards(other: dict[str, Any]) -> None:
    made = board([result(author="a", speedup=5.0), result(author="b", **other)])
    assert _ranks(made) == {"a": 1, "b": 1}
    assert len(board([result(author="a"), result(author="a", **other)])) == 2


def test_minor_versions_of_the_harness_share_a_board() -> None:
    entries = [result(author="a", speedup=5.0), result(author="b", harness="0.9.1")]
    assert _ranks(board(entries)) == {"a": 1, "b": 2}


def test_one_problem_only() -> None:
    entries = [result(), result(problem="relu")]
    assert board(entries, problem="relu")["problem"].tolist() == ["relu"]
    assert not len(board(entries, problem="none"))


def test_the_same_result_twice_counts_once() -> None:
    once = result()
    assert len(board([once, once], all_entries=True)) == 1


# -- properties ------------------------------------------------------------------------------

SCORES = st.tuples(
    st.floats(min_value=0.01, max_value=100.0), st.floats(min_value=1e-6, max_value=0.2)
)


@st.composite
def _results(draw: st.DrawFn) -> list[Result]:
    made = []
    for number in range(draw(st.integers(0, 12))):
        speedup, relative = draw(SCORES)
        made.append(
            result(
                id=f"r{number}",
                author=draw(st.sampled_from("abcd")),
                solution_hash=draw(st.sampled_from(["x", "y", f"s{number}"])),
                problem_hash=draw(st.sampled_from(["v1", "v2"])),
                minutes=draw(st.integers(0, 5)),
                speedup=speedup,
                relative=relative,
            )
        )
    return made


@settings(deadline=None, max_examples=15)
@given(_results(), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_the_results_does_not_matter(
    results: list[Result], random: "object", everything: bool
) -> None:
    made = board(results, all_entries=everything)
    shuffled = list(results)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    pd.testing.assert_frame_equal(board(shuffled, all_entries=everything), made)


@settings(deadline=None, max_examples=15)
@given(_results(), st.booleans())
def test_every_rank_is_one_plus_the_number_of_those_who_beat_it(
    results: list[Result], everything: bool
) -> None:
    made = board(results, all_entries=everything)
    ranked = [row for row in rows(made) if row.rank is not None]
    by_id = {each.id: each for each in results}

    def beats_by_hand(a: Result, b: Result) -> bool:
        assert a.score is not None
        assert b.score is not None
        half = [math.log(s.speedup.high / s.speedup.low) / 2 for s in (a.score, b.score)]
        difference = math.log(a.score.speedup.value) - math.log(b.score.speedup.value)
        # 1.96 · sqrt(se² + se²) is the root of the summed squares of the half-widths.
        return difference > max(0.005, math.hypot(*half, *[1.96 * spread] * 2))

    for row in ranked:
        spread = row.grade_spread or 0.0
        mine = by_id[row.result]
        better = sum(beats_by_hand(by_id[other.result], mine) for other in ranked)
        assert row.rank == 1 + better
    if ranked:
        assert ranked[0].rank == 1
        numbers = [row.rank for row in ranked]
        assert numbers == sorted(numbers)


@settings(deadline=None, max_examples=100)
@given(st.lists(SCORES, min_size=1, max_size=20))
def test_beating_is_a_strict_order_and_ranks_follow_it(entries: list[tuple[float, float]]) -> None:
    scores = np.log([value for value, _ in entries])
    errors = np.array([relative / Z95 for _, relative in entries])
    matrix = np.array(
        [beats(float(s), float(e), scores, errors) for s, e in zip(scores, errors, strict=True)]
    )
    assert not (matrix & matrix.T).any()
    assert not matrix.diagonal().any()
    place = ranks(scores, errors)
    assert (place == 1 + matrix.sum(axis=0)).all()
    assert place.min() == 1
    assert place[scores.argmax()] == 1
    assert not (matrix & (place[:, None] >= place[None, :]) & (errors[:, None] == errors)).any()


def test_the_margin_counts_even_for_perfect_measurements() -> None:
    errors = np.zeros(2)
    assert list(ranks(np.array([0.0, MARGIN * 0.99]), errors)) == [1, 1]
    assert list(ranks(np.array([0.0, MARGIN * 1.01]), errors)) == [2, 1]


def test_the_spread_between_grades_widens_ties() -> None:
    scores, errors = np.array([0.0, 0.02]), np.zeros(2)
    assert list(ranks(scores, errors, spread=0.0)) == [2, 1]
    assert list(ranks(scores, errors, spread=0.01)) == [1, 1]


def test_standard_errors_come_from_the_log_domain() -> None:
    low, high = np.array([math.exp(-0.0196)]), np.array([math.exp(0.0196)])
    assert standard_errors(low, high) == pytest.approx([0.01])


def test_dates_are_kept_to_the_microsecond() -> None:
    (row,) = rows(board([result(minutes=1)]))
    assert row.date == START + timedelta(minutes=1)


def test_a_single_entry_of_a_board_is_compared_with_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of a millisecond each, where there are many."""
    asked: list[int] = []

    def counted(scores: Any, errors: Any, *, spread: float) -> Any:
        asked.append(len(scores))
        return ranks(scores, errors, spread=spread)

    monkeypatch.setattr(ranking, "ranks", counted)
    entries = [result(problem=f"p{number}", author="a") for number in range(5)]
    entries += [result(problem="p3", author="b", speedup=9.0), unranked(problem="p4", author="b")]
    made = board(entries)
    assert made["rank"].fillna(0).tolist() == [1, 1, 1, 1, 2, 1, 0]
    assert asked == [2]


def test_histories_are_by_board_and_author_or_solution() -> None:
    cpu = result(author="alice", speedup=9.0, device=CPU)
    results = [
        result(author="Alice", name="b.cu", speedup=3.0, minutes=2),
        result(author="alice", name="a.cu", speedup=2.0, minutes=1),
        result(author="alice", name="x.cu", speedup=8.0, minutes=3).model_copy(
            update={"origin": "other.jsonl"}
        ),
        result(author="bob", name="b.cu", speedup=1.5),
        failed(author="bob", name="b.cu"),
        cpu,
    ]
    entries = ranking.entries_frame(tuple(entry(each).values()) for each in results)
    of_gpu = {
        key[1:]: values for key, values in ranking.histories(entries).items() if not key[0].emulated
    }
    assert of_gpu == {("alice", ""): [2.0, 3.0], ("bob", ""): [1.5]}
    each = ranking.histories(entries, all_entries=True)
    assert sorted((*key[1:], *values) for key, values in each.items() if not key[0].emulated) == [
        ("alice", "a.cu", 2.0),
        ("alice", "b.cu", 3.0),
        ("bob", "b.cu", 1.5),
    ]
    row = rows(ranking.ranked(entries, problem="gemm"))[-1]
    assert (row.key, "bob", "") in ranking.histories(entries)
    assert ranking.histories(entries[:0]) == {}
