"""What must hold of ranks whatever the entries: properties, of the numbers and of whole boards."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.samples import failed, result, score, unranked

from harness.records.refs import DeviceRef
from harness.records.result import Result, Verdict
from leaderboard.ranking import board, rows
from leaderboard.ties import beats, ranks

LOGS = st.floats(min_value=-5.0, max_value=5.0)
ERRORS = st.floats(min_value=0.0, max_value=0.1)
ENTRIES = st.lists(st.tuples(LOGS, ERRORS), min_size=1, max_size=15)
Entry = tuple[float, float]


def _ranks(entries: list[Entry], spread: float = 0.0) -> list[int]:
    scores, errors = np.array(entries, dtype=np.float64).reshape(-1, 2).T
    return ranks(scores, errors, spread=spread).tolist()


@given(ENTRIES, st.floats(0.0, 0.1))
def test_a_rank_is_one_more_than_the_number_of_those_who_beat_it(
    entries: list[Entry], spread: float
) -> None:
    scores, errors = np.array(entries, dtype=np.float64).reshape(-1, 2).T
    beaten = [beats(s, e, scores, errors, spread=spread) for s, e in entries]
    assert _ranks(entries, spread) == (1 + np.sum(beaten, axis=0)).tolist()


def _beats(a: Entry, b: Entry) -> bool:
    return bool(beats(*a, np.array([b[0]]), np.array([b[1]]), spread=0.0)[0])


class TestNumbers:
    @given(ENTRIES)
    def test_a_rank_is_one_plus_the_number_of_those_who_beat_it(self, entries: list[Entry]) -> None:
        counted = [1 + sum(_beats(other, mine) for other in entries) for mine in entries]
        assert _ranks(entries) == counted

    @given(st.tuples(LOGS, ERRORS), st.tuples(LOGS, ERRORS))
    def test_two_share_a_rank_unless_one_beats_the_other(self, a: Entry, b: Entry) -> None:
        first, second = _ranks([a, b])
        assert not (_beats(a, b) and _beats(b, a))
        assert (first == second) == (not _beats(a, b) and not _beats(b, a))
        assert _ranks([b, a]) == [second, first]

    @given(ENTRIES, st.randoms(use_true_random=False))
    def test_the_order_of_entries_changes_no_rank(self, entries: list[Entry], random: Any) -> None:
        order = list(range(len(entries)))
        random.shuffle(order)
        place = _ranks(entries)
        assert _ranks([entries[i] for i in order]) == [place[i] for i in order]

    @given(ENTRIES, st.tuples(LOGS, ERRORS))
    def test_one_more_changes_no_rank_of_those_it_is_no_faster_than(
        self, entries: list[Entry], more: Entry
    ) -> None:
        before, after = _ranks(entries), _ranks([*entries, more])[:-1]
        for entry, old, new in zip(entries, before, after, strict=True):
            assert new in (old, old + 1)
            if entry[0] >= more[0]:
                assert new == old

    @given(ENTRIES, st.data())
    def test_a_better_score_never_costs_a_place(
        self, entries: list[Entry], data: st.DataObject
    ) -> None:
        which = data.draw(st.integers(0, len(entries) - 1))
        better = list(entries)
        better[which] = (entries[which][0] + data.draw(st.floats(0.0, 2.0)), entries[which][1])
        old, new = _ranks(entries), _ranks(better)
        assert new[which] <= old[which]
        assert all(n >= o for i, (o, n) in enumerate(zip(old, new, strict=True)) if i != which)

    @given(ENTRIES, st.floats(0.0, 0.1))
    def test_a_wider_spread_only_makes_ties(self, entries: list[Entry], spread: float) -> None:
        pairs = zip(_ranks(entries), _ranks(entries, spread), strict=True)
        assert all(wide <= narrow for narrow, wide in pairs)

    @given(ENTRIES)
    def test_the_best_score_is_first(self, entries: list[Entry]) -> None:
        assert _ranks(entries)[max(range(len(entries)), key=lambda i: entries[i][0])] == 1


# -- boards ----------------------------------------------------------------------------------------

SPEEDUPS = st.floats(min_value=0.01, max_value=100.0)
WIDTHS = st.floats(min_value=1e-6, max_value=0.05)
CURRENT = {"gemm": "v1", "relu": "v1"}


@st.composite
def _ranked(draw: st.DrawFn) -> list[Result]:
    """Ranked results of one board, each of a solution of its own."""
    return [
        result(
            id=f"r{number}",
            author=draw(st.sampled_from("abcdef")),
            solution_hash=f"s{number}",
            problem_hash="v1",
            minutes=draw(st.integers(0, 5)),
            speedup=draw(SPEEDUPS),
            relative=draw(WIDTHS),
        )
        for number in range(draw(st.integers(1, 8)))
    ]


def _placed(results: list[Result], *, everything: bool) -> dict[str, int | None]:
    """Rank of each result that is listed, by its id."""
    frame = board(results, all_entries=everything, current=CURRENT)
    return {row.result: row.rank for row in rows(frame)}


ELSEWHERE: list[dict[str, Any]] = [
    {"problem": "relu"},
    {"problem_hash": "v2"},
    {"dtype": "float16"},
    {"device": DeviceRef(kind="cuda", name="NVIDIA L4")},
    {"device": DeviceRef(kind="cpu", name="NVIDIA H100 80GB HBM3")},
    {"harness": "1.0.0"},
    {"score": score(9.0, baseline="cuBLAS")},
]


@settings(max_examples=5)
@given(_ranked(), st.booleans(), st.sampled_from("abz"), SPEEDUPS, st.integers(-10, 10))
@pytest.mark.parametrize("where", ELSEWHERE, ids=lambda where: next(iter(where)))
def test_what_is_on_another_board_influences_none(
    where: dict[str, Any],
    results: list[Result],
    everything: bool,
    author: str,
    speedup: float,
    minutes: int,
) -> None:
    before = _placed(results, everything=everything)
    # The very same file, elsewhere.
    given = {"problem_hash": "v1", "author": author, "solution_hash": "s0", "minutes": minutes}
    other = result(id="other", speedup=speedup, **given | where)
    after = _placed([*results, other], everything=everything)
    assert {key: rank for key, rank in after.items() if key != "other"} == before
    if where == {"problem_hash": "v2"}:
        assert after.get("other") is None


@settings(max_examples=12)
@given(_ranked(), st.booleans(), st.sampled_from("abz"), SPEEDUPS)
def test_an_unranked_entry_has_no_rank_and_influences_none(
    results: list[Result], everything: bool, author: str, speedup: float
) -> None:
    before = _placed(results, everything=everything)
    other = unranked(
        id="other", author=author, solution_hash="own", problem_hash="v1", speedup=speedup
    )
    untimed = result(
        id="untimed", author=author, solution_hash="bare", problem_hash="v1",
        measurements=(), score=None,
    )  # fmt: skip
    after = _placed([other, *results, untimed], everything=everything)
    assert after.pop("other", None) is None
    assert after.pop("untimed", None) is None
    assert after == before


@settings(max_examples=8)
@given(_ranked(), st.booleans(), st.sampled_from("abz"), st.sampled_from(sorted(Verdict)))
def test_a_failure_influences_no_other_solution(
    results: list[Result], everything: bool, author: str, verdict: Verdict
) -> None:
    assume(verdict is not Verdict.ACCEPTED)
    other = failed(verdict, author=author, solution_hash="own", problem_hash="v1")
    assert _placed([*results, other], everything=everything) == _placed(
        results, everything=everything
    )


@settings(max_examples=12)
@given(_ranked(), st.booleans(), st.sampled_from("abz"), SPEEDUPS, WIDTHS)
def test_a_slower_entry_changes_no_rank_above_it(
    results: list[Result], everything: bool, author: str, speedup: float, relative: float
) -> None:
    before = _placed(results, everything=everything)
    slower = result(
        id="slower", author=author, solution_hash="own", problem_hash="v1",
        speedup=speedup, relative=relative,
    )  # fmt: skip
    after = _placed([*results, slower], everything=everything)
    assert slower.score is not None
    for each in results:
        assert each.score is not None
        ahead = each.score.speedup.value - slower.score.speedup.value
        if each.solution.author == author:  # of two that are equal, an author shows one
            ahead -= 1e-12
        if each.id in before and ahead >= 0:
            assert after[each.id] == before[each.id]


@settings(max_examples=12)
@given(_ranked())
def test_the_best_is_first_and_no_rank_exceeds_the_faster_entries(
    results: list[Result],
) -> None:
    frame = board(results, all_entries=True, current=CURRENT)
    ranked = [row for row in rows(frame) if row.rank is not None]
    assert ranked[0].rank == 1
    assert max(ranked, key=lambda row: row.speedup or 0).rank == 1
    # A rank is never beyond the number of entries that are faster.
    for row in ranked:
        faster = sum((o.speedup or 0) > (row.speedup or 0) for o in ranked)
        assert (row.rank or 0) <= 1 + faster
