"""σ_AA from grades of the same files: what counts, how much, and what ranks make of it."""

import math
from typing import Any

import numpy as np
import pytest
from support.samples import failed, result, score, unranked

from harness.records.refs import DeviceRef
from harness.records.result import Result
from leaderboard.ranking import board, rows
from leaderboard.spread import ASSUMED_PAIRS, FURTHEST, GRADE_SPREAD, LARGEST, grade_spread

L4 = DeviceRef(kind="cuda", name="NVIDIA L4")


def _grades(logs: list[float], relative: float = 1e-5, **changes: Any) -> list[Result]:
    """Grades of one file, one after the other; no two measurements are quite the same."""
    same = {"solution_hash": "s0", "author": "alice"} | changes
    return [
        result(speedup=math.exp(log + 1e-8 * number), relative=relative, minutes=number, **same)
        for number, log in enumerate(logs)
    ]


def _spread(results: list[Result], **options: Any) -> float | None:
    return rows(board(results, **options))[0].grade_spread


class TestNumbers:
    def test_without_repeated_grades_it_is_assumed(self) -> None:
        assert grade_spread(np.empty(0), np.empty(0)) == pytest.approx(GRADE_SPREAD)
        assert grade_spread(np.zeros(1), np.zeros(1)) == pytest.approx(GRADE_SPREAD)

    @pytest.mark.parametrize("sigma", [0.0, 0.001, 0.003])
    def test_many_grades_tell_it(self, sigma: float) -> None:
        source = np.random.default_rng(3)
        errors = np.full(4000, 0.001)
        scores = source.normal(0.0, math.hypot(sigma, 0.001), 4000)
        assert grade_spread(scores, errors) == pytest.approx(sigma, abs=3e-4)

    def test_as_many_pairs_as_are_assumed_count_half(self) -> None:
        scores = np.array([0.0, 0.004] * (ASSUMED_PAIRS // 2) + [0.0])
        found = grade_spread(scores, np.zeros(len(scores)))
        assert found**2 == pytest.approx((0.004**2 / 2 + GRADE_SPREAD**2) / 2)

    def test_it_is_never_negative(self) -> None:
        assert grade_spread(np.zeros(200), np.full(200, 0.01)) == 0.0

    def test_it_has_an_upper_end(self) -> None:
        assert grade_spread(np.array([0.0, 0.019] * 100), np.zeros(200)) == LARGEST

    def test_a_driver_in_between_is_no_spread(self) -> None:
        scores = np.array([0.0] * 50 + [2 * FURTHEST] * 50)
        assert grade_spread(scores, np.zeros(100)) == grade_spread(np.zeros(99), np.zeros(99))

    def test_grades_of_other_files_are_no_pair(self) -> None:
        scores, files = np.array([0.0, 0.01]), np.array([0, 1])
        assert grade_spread(scores, np.zeros(2), files) == pytest.approx(GRADE_SPREAD)


class TestBoards:
    def test_grades_of_one_file_tell_it_of_its_device(self) -> None:
        logs = [0.0, 0.004] * 30
        told = _spread(_grades(logs))
        assert told == pytest.approx(grade_spread(np.array(logs), np.full(60, 1e-5 / 1.96)), 1e-4)
        assert told is not None
        assert told > 1.5 * GRADE_SPREAD

    @pytest.mark.parametrize(
        "other",
        [
            {"problem": "relu"},
            {"dtype": "float16"},
            {"score": score(1.0, 1e-5, baseline="cuBLAS")},
            {"author": "bob"},
        ],
        ids=lambda other: next(iter(other)),
    )
    def test_grades_on_all_boards_of_the_device_count(self, other: dict[str, Any]) -> None:
        grades = _grades([0.0, 0.004] * 30)
        found = rows(board([*grades, result(minutes=99, **{"author": "bob"} | other)]))
        assert len({row.grade_spread for row in found}) == 1
        assert found[0].grade_spread == pytest.approx(_spread(grades))

    def test_the_board_of_one_problem_has_the_same(self) -> None:
        results = [*_grades([0.0, 0.004] * 30), result(problem="relu")]
        assert _spread(results, problem="relu") == pytest.approx(_spread(results, problem="gemm"))

    @pytest.mark.parametrize(
        "other",
        [
            {"device": L4},
            {"device": DeviceRef(kind="cpu", name="NVIDIA H100 80GB HBM3")},
            {"harness": "1.0.0"},
        ],
        ids=lambda other: str(next(iter(other.values()))),
    )
    def test_another_device_or_major_version_has_its_own(self, other: dict[str, Any]) -> None:
        results = [*_grades([0.0, 0.004] * 30, **other), result(minutes=99)]
        found = {
            row.device_kind + row.device + row.harness_major: row for row in rows(board(results))
        }
        assert len(found) == 2
        assert found["cudaNVIDIA H100 80GB HBM30"].grade_spread == pytest.approx(GRADE_SPREAD)

    @pytest.mark.parametrize(
        "different",
        [
            {"problem_hash": "p2"},
            {"harness": "0.2.0"},
            {"dtype": "float16"},
            {"solution_hash": "t"},
        ],
        ids=lambda each: next(iter(each)),
    )
    def test_grades_that_measured_something_else_are_no_pair(
        self, different: dict[str, Any]
    ) -> None:
        one, two = _grades([0.0, 0.01]), _grades([0.0, 0.01], **different)
        assert _spread([one[0], two[1]]) == pytest.approx(GRADE_SPREAD)
        assert _spread(one) != pytest.approx(GRADE_SPREAD, rel=0.1)

    def test_copies_of_one_measurement_are_no_pair(self) -> None:
        """A run grades files of the same content once, and records them all."""
        copies = [result(solution_hash="s0", author=f"a{n}", minutes=n) for n in range(40)]
        assert _spread(copies) == pytest.approx(GRADE_SPREAD)

    def test_unranked_and_failed_grades_do_not_count(self) -> None:
        noise = [
            unranked(solution_hash="s0", speedup=1.0 + 0.01 * (n % 2), minutes=n) for n in range(40)
        ]
        wrong = [failed(solution_hash="s1", minutes=n) for n in range(40)]
        assert _spread([*noise, *wrong, result(minutes=99)]) == pytest.approx(GRADE_SPREAD)

    def test_unranked_rows_have_none(self) -> None:
        assert _spread([unranked()]) is None
        assert _spread([result()]) == pytest.approx(GRADE_SPREAD)

    def test_ranks_allow_for_it(self) -> None:
        """Two that are 0.6 % apart: told on a steady card, not on one with a large spread."""
        pair = [
            result(author="bob", speedup=1.31, relative=1e-5),
            result(author="carol", speedup=1.31 * math.exp(0.006), relative=1e-5),
        ]

        def ranks(logs: list[float]) -> dict[str, int | None]:
            grades = _grades([-0.5 + log for log in logs])
            return {row.author: row.rank for row in rows(board([*pair, *grades]))}

        assert ranks([0.0]) == {"carol": 1, "bob": 2, "alice": 3}
        assert ranks([0.0, 0.005] * 50) == {"carol": 1, "bob": 1, "alice": 3}
