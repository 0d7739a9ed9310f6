"""What boards are made of: told again from the record alone, and written as a CSV has it."""

import csv
import io
import json
import math
from datetime import UTC, datetime, timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.samples import START, failed, result, score, unranked

from harness.records.result import Result
from leaderboard.csvfile import neutral, to_csv
from leaderboard.ranking import board
from leaderboard.standing import WIDTHS, Standing, standing
from leaderboard.standings import Standings, columns, few_columns

SOME = [
    result(author="a", speedup=1 / 3),
    failed(author="b"),
    unranked("noisy", author="c"),
    result(author="d", measurements=(), score=None),
]
TEXTS = st.text(max_size=12) | st.sampled_from(
    ["=1", " =1", "-", "+1", "@x", "'", "a;=1", "::error ::x", "##[group]", 'say "x"', "\\", "NaN"]
)


def test_the_parts_are_all_of_it() -> None:
    assert sum(WIDTHS) == len(Standing._fields)


def test_none_at_all() -> None:
    nothing = Standings.of([])
    assert (len(nothing), list(nothing), nothing.problems, nothing.results) == (0, [], set(), [])


@settings(max_examples=30)
@given(TEXTS, TEXTS.filter(bool), st.floats(1e-6, 1e6), st.datetimes(datetime(1, 1, 2)))
@example('a,\n"', "\ud800\0", 1 / 3, datetime(9999, 12, 30))
def test_what_was_written_is_read_and_the_facts_are_its_own(
    author: str, problem: str, speedup: float, created: datetime
) -> None:
    moment = created.replace(tzinfo=UTC)
    told = standing(result(author=author, problem=problem, speedup=speedup, created=moment))
    read = Standings.of([told, standing(SOME[1]), told])
    assert repr(list(read)) == repr([told, standing(SOME[1]), told])
    assert read.problems == {told.problem, "gemm"}
    assert read.results == [told.result, SOME[1].id, told.result]
    facts = read.facts[0]
    assert (facts["speedup"], facts["low"], facts["high"]) == (
        told.speedup, told.speedup_low, told.speedup_high,
    )  # fmt: skip
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert epoch + timedelta(microseconds=int(facts["date"])) == moment
    assert read.facts[0] == read.facts[2]


def test_flags_are_those_of_the_record() -> None:
    facts = Standings.of(map(standing, SOME)).facts
    assert facts["accepted"].tolist() == [True, False, True, True]
    assert facts["speaks"].tolist() == [True, True, True, True]
    assert facts["unranked"].tolist() == [False, True, True, True]
    assert math.isnan(facts["speedup"][3])


def test_names_are_told_apart_where_ranking_tells_them_apart() -> None:
    same = {"solution_hash": "s", "author": "a"}
    variants: list[Result] = [
        result(**same),
        result(**same, score=score(baseline="another")),
        result(**same, name="renamed", minutes=3),
        result(**same, problem="relu"),
        result(**same, problem_hash="p2"),
        result(**same, dtype="float16"),
        result(**same, harness="1.0.0"),
        result(solution_hash="s2", author="a"),
        result(solution_hash="s", author="b"),
    ]
    facts = Standings.of(map(standing, variants)).facts
    assert len(set(facts["solution"][:3].tolist())) == 1
    assert len(set(facts["solution"].tolist())) == 7
    assert len(set(facts["version"].tolist())) == 3
    assert len(set(facts["author"].tolist())) == 2
    assert len(set(facts["result"].tolist())) == len(variants)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"))))
def test_few_columns_are_columns(rows: list[tuple[int, str]]) -> None:
    texts = [json.dumps(each)[1:-1] for each in rows]
    assert columns(texts, 2) == [[number for number, _ in rows], [text for _, text in rows]]
    assert few_columns(texts, 2) == columns(texts, 2)


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_every_cell_is_what_its_value_alone_would_be(names: list[tuple[str, str, str]]) -> None:
    boards = board(
        [
            result(
                author=author, name=name, minutes=n,
                score=score(ranked=not reason, unranked_reason=reason),
            )
            for n, (author, name, reason) in enumerate(names)
        ],
        all_entries=True,
    )  # fmt: skip
    file = io.StringIO()
    to_csv(boards, file)
    lines = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    made = boards.columns()
    for column in ("problem", "author", "solution", "unranked_reason", "result", "device"):
        assert [line[column] for line in lines] == [neutral(str(each)) for each in made[column]]
    for column in ("speedup", "speedup_low", "speedup_high", "time_us"):
        assert [float(line[column]) for line in lines] == made[column]
    assert [datetime.fromisoformat(line["date"]) for line in lines] == made["date"]
    assert START in made["date"]
