"""Who took the lead of a board when, and what an author has had accepted."""

import pytest
from support.samples import failed, result, unranked

from harness.records.result import Result
from leaderboard.entry import entry
from leaderboard.ranking import entries_frame, standing
from leaderboard.timeline import Timeline


def timeline(*results: Result) -> Timeline:
    entries = entries_frame(tuple(entry(each).values()) for each in results)
    return Timeline(entries, standing(entries))


def leads(*results: Result) -> list[tuple[str, float | None, int]]:
    found = timeline(*results).leads()
    assert len(found) <= 1
    return [(row.author, row.speedup, row.date.minute) for each in found.values() for row in each]


def test_who_took_the_lead_and_when() -> None:
    assert leads(
        result(author="ann", speedup=1.0),
        result(author="bea", speedup=0.9, minutes=1),
        result(author="bea", speedup=1.5, minutes=2),
        result(author="cyd", speedup=1.4, minutes=3),
        result(author="ann", speedup=2.0, minutes=4),
    ) == [("ann", 1.0, 0), ("bea", 1.5, 2), ("ann", 2.0, 4)]


def test_a_file_counts_from_its_first_acceptance_by_what_it_has_now() -> None:
    assert leads(
        result(author="ann", speedup=3.0, solution_hash="a"),
        result(author="bea", speedup=1.5, minutes=1),
        result(author="ann", speedup=1.2, solution_hash="a", minutes=9),
    ) == [("ann", 1.2, 0), ("bea", 1.5, 1)]


def test_what_is_withdrawn_unranked_or_of_another_version_never_led() -> None:
    assert leads(
        result(author="old", speedup=9.0, problem_hash="p0"),
        result(author="ann", speedup=1.0, minutes=1),
        unranked(author="bea", speedup=5.0, minutes=2),
        result(author="cyd", speedup=4.0, solution_hash="c", minutes=3),
        failed(author="cyd", solution_hash="c", minutes=4),
        result(author="dot", speedup=2.0, minutes=5),
    ) == [("ann", 1.0, 1), ("dot", 2.0, 5)]


def test_boards_have_their_own_leads() -> None:
    found = timeline(
        result(author="ann", speedup=1.0),
        result(author="bea", speedup=2.0, dtype="float16", minutes=1),
        result(author="cyd", speedup=3.0, problem="softmax", minutes=2),
    ).leads()
    assert [[row.author for row in each] for each in found.values()] == [["bea"], ["ann"], ["cyd"]]
    assert all(row.key == key for key, each in found.items() for row in each)


def test_nothing_has_no_leads() -> None:
    assert timeline().leads() == {}
    assert timeline(unranked()).leads() == {}
    assert timeline().authors(["ann"])["ann"].accepted == ()


@pytest.mark.parametrize("spelling", ["ann", "Ann"])
def test_an_author_has_every_accepted_result_the_newest_first(spelling: str) -> None:
    found = timeline(
        result(author="ann", id="one", speedup=1.0, solution_hash="a"),
        result(author="Ann", id="two", speedup=1.1, solution_hash="a", minutes=1),
        failed(author="ann", id="three", minutes=2),
        result(author="bea", id="four", minutes=3),
    ).authors([spelling])
    assert list(found) == [spelling]
    history = found[spelling]
    assert [row.result for row in history.accepted] == ["two", "one"]
    assert {row.author for row in history.accepted} == {spelling}
    assert history.results == 3
    assert all(row.rank is None for row in history.accepted)
