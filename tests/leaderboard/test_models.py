"""Models by their samples: against values worked out by hand, and against brute force."""

import csv
import io
import math
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import samples

from harness.records.refs import DeviceRef, Generation, SolutionRef
from harness.records.result import Reason, Result, Verdict
from leaderboard.entry import entry
from leaderboard.models import ModelRow, pass_at_k, without_cpu_times, write_csv
from leaderboard.models import by_model as by_model_of
from leaderboard.ranking import entries_frame


def by_model(results: Iterable[Result], **options: Any) -> list[ModelRow]:
    return by_model_of(entries_frame(tuple(entry(each).values()) for each in results), **options)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (1, 0, 1, 0.0),
        (1, 1, 1, 1.0),
        (10, 3, 1, 0.3),
        (5, 2, 2, 1 - 3 / 10),
        (10, 3, 5, 1 - 21 / 252),
        (200, 1, 100, 0.5),
        (4, 3, 2, 1.0),
    ],
)
def test_by_hand(n: int, c: int, k: int, value: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(value)


@given(st.data())
def test_it_is_the_share_of_draws_with_a_right_one(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 9))
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


@pytest.mark.parametrize(("n", "c", "k"), [(1, 2, 1), (1, 0, 2), (3, 1, 0), (3, -1, 1)])
def test_impossible_counts(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="right among"):
        pass_at_k(n, c, k)


def sample(
    model: str, problem: str, name: str, outcome: float | Verdict | Reason, **more: Any
) -> Result:
    """A result of a generation: accepted with that speed-up, or not."""
    about = SolutionRef(
        author=model or "me",
        name=name,
        language="cuda",
        hash=f"{model}/{problem}/{name}",
        path=f"{name}.txt",
        generation=Generation(model=model) if model else None,
    )
    if isinstance(outcome, Reason):
        verdict = Verdict.INVALID_SUBMISSION
        return samples.failed(verdict, solution=about, problem=problem, reason=outcome, **more)
    if isinstance(outcome, Verdict):
        return samples.failed(outcome, solution=about, problem=problem, **more)
    return samples.result(solution=about, problem=problem, speedup=outcome, **more)


RESULTS = [
    sample("a", "gemm", "0", 2.0),
    sample("a", "gemm", "1", 0.5),
    sample("a", "gemm", "2", Verdict.WRONG_ANSWER),
    sample("a", "gemm", "3", Reason.NO_CODE),
    sample("a", "sum", "0", Verdict.COMPILE_ERROR),
    sample("a", "sum", "1", 1.5),
    sample("b", "gemm", "0", Reason.TRUNCATED_IN_REASONING),
    sample("", "gemm", "mine", 9.0),
]


def test_without_times_nobody_knows_what_is_fast() -> None:
    cpu = DeviceRef(kind="cpu", name="Xeon")
    timed = [
        sample("a", "gemm", "0", 3.0, device=cpu),
        sample("a", "gemm", "1", Reason.NO_CODE, device=cpu),
    ]
    untimed = [sample("a", "gemm", "0", 3.0, device=cpu, score=None, measurements=()), timed[1]]
    (row,) = by_model(untimed, ps=(0, 1))
    assert (row.solved, row.passed[1], row.fast[0, 1]) == (1, 0.5, 0.5)
    assert math.isnan(row.fast[1, 1])
    assert math.isnan(row.speedup)
    assert by_model(timed, ps=(0, 1))[0].fast[1, 1] == 0.5
    entries = entries_frame(tuple(entry(each).values()) for each in (*timed, *RESULTS))
    by_name = {(r.model, r.device_kind): r for r in by_model_of(without_cpu_times(entries))}
    assert math.isnan(by_name["a", "cpu"].speedup)
    assert by_name["a", "cuda"].speedup == pytest.approx(math.sqrt(1.0 * 1.5))


def test_a_table_by_hand() -> None:
    a, b = by_model(RESULTS, ks=(1, 2, 3), ps=(0, 1, 1.5, 2))
    assert (a.model, a.problems, a.samples, a.solved) == ("a", 2, 6, 2)
    assert a.passed[1] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert a.passed[2] == pytest.approx((1 - 1 / 6 + 1) / 2)
    assert math.isnan(a.passed[3])  # there are two samples for `sum`
    assert a.fast[0, 1] == a.passed[1]
    assert a.fast[1, 1] == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert a.fast[1.5, 1] == pytest.approx((1 / 4 + 0) / 2)  # faster than, not as fast as
    assert a.fast[2, 1] == 0
    assert a.speedup == pytest.approx(math.sqrt(1.0 * 1.5))
    assert a.verdicts == {
        Verdict.ACCEPTED: 3,
        Verdict.WRONG_ANSWER: 1,
        Verdict.INVALID_SUBMISSION: 1,
        Verdict.COMPILE_ERROR: 1,
    }
    assert a.reasons == {Reason.NO_CODE: 1}
    assert (b.samples, b.passed[1], b.reasons) == (1, 0.0, {Reason.TRUNCATED_IN_REASONING: 1})
    assert math.isnan(b.speedup)


def test_one_sample_a_problem_is_the_share_of_problems() -> None:
    results = [sample("m", f"p{i}", "0", speedup) for i, speedup in enumerate((0.5, 1.2, 3.0))]
    results.append(sample("m", "p3", "0", Verdict.RUNTIME_ERROR))
    (row,) = by_model(results, ps=(0, 1, 2))
    assert [row.fast[p, 1] for p in (0, 1, 2)] == [0.75, 0.5, 0.25]


def test_the_last_word_counts_and_the_machines_faults_do_not() -> None:
    results = [
        sample("m", "gemm", "0", Verdict.WRONG_ANSWER, minutes=0),
        sample("m", "gemm", "0", 2.0, minutes=1),
        sample("m", "gemm", "0", Verdict.INTERNAL_ERROR, minutes=2),
        sample("m", "gemm", "1", Verdict.NOT_EXECUTABLE_HERE, minutes=3),
    ]
    (row,) = by_model(reversed(results))
    assert (row.samples, row.passed[1]) == (1, 1.0)
    assert row.verdicts == {Verdict.ACCEPTED: 1, Verdict.NOT_EXECUTABLE_HERE: 1}


def test_only_the_current_version_of_a_problem_counts() -> None:
    results = [
        sample("m", "gemm", "0", 2.0, minutes=0, problem_hash="old"),
        sample("m", "gemm", "1", Verdict.WRONG_ANSWER, minutes=1, problem_hash="new"),
    ]
    (row,) = by_model(results)
    assert row.passed[1] == 0.0
    (row,) = by_model(results, current={"gemm": "old"})
    assert row.passed[1] == 1.0


def test_sets_of_problems_are_not_pooled_and_levels_have_rows() -> None:
    outcomes: dict[str, float | Verdict] = {
        "kernelbench-level1-1-scan": 3.0,
        "kernelbench-level1-2-next": Verdict.WRONG_ANSWER,
        "kernelbench-level10-1-net": 0.5,
        "kernelbench-v0-level2-1-old": Verdict.COMPILE_ERROR,
        "kernelbench-misc-1-other": 1.5,
        "kernelbench-level1-1-scan-measured": 1.0,
        "leetgpu-1-add": 1.0,
        "gemm": 2.0,
        "gemm-measured": 2.0,
    }
    results = [sample("m", slug, "0", outcome) for slug, outcome in outcomes.items()]
    rows = by_model(results, ps=(0, 1))
    shown = [(row.problem_set, row.level, row.problems, row.passed[1]) for row in rows]
    assert shown == [
        ("", "", 2, 1.0),
        ("kernelbench", "", 5, 0.6),
        ("kernelbench", "1", 2, 0.5),
        ("kernelbench", "2", 1, 0.0),
        ("kernelbench", "10", 1, 1.0),
        ("kernelbench, measured tolerance", "", 1, 1.0),
        ("kernelbench, measured tolerance", "1", 1, 1.0),
        ("leetgpu", "", 1, 1.0),
    ]
    assert [row.fast[1, 1] for row in rows[1:4]] == [0.4, 0.5, 0.0]


def test_a_csv_file() -> None:
    results = [*RESULTS, sample("=evil()", "gemm", "0", 1.0)]
    rows = by_model(results, ks=(1, 3))
    file = io.StringIO()
    write_csv(rows, file)
    read = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [row["model"] for row in read] == ["'=evil()", "a", "b"]
    assert (read[1]["pass@1"], read[1]["pass@3"], read[1]["NO_CODE"]) == ("0.5", "", "1")
