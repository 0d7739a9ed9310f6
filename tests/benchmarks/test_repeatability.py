"""What `bench.py repeat` grades, and what it makes of the outcome."""

import math
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.solution.model import Solution


def grade(value: float, half: float = 0.002) -> dict[str, Any]:
    return {"value": value, "low": value * (1 - half), "high": value * (1 + half), "ranked": True}


def test_the_baseline_spins_as_long_as_what_is_timed(tmp_path: Path) -> None:
    from benchmarks.repeatability import spin_problem, spins

    problem = load_problem(spin_problem(tmp_path / "problems"))
    assert (problem.slug, problem.benchmarks) == ("spin", ({"n": 1048576},))
    fast, slower = (file.read_text() for file in spins(tmp_path / "files"))
    assert "< 2000000)" in fast
    assert "< 2020000)" in slower
    assert "2000000" in problem.baselines["pytorch"].read_text()
    assert isinstance(read_solution(tmp_path / "files/spin.cu", problem="spin"), Solution)


def test_the_slower_one_is_told_where_intervals_allow_it() -> None:
    from benchmarks.repeatability import told_apart

    same, slower = [grade(1.0), grade(1.001)], [grade(0.99), grade(0.989)]
    assert told_apart(same, slower) == {"told": 4, "pairs": 4}
    assert told_apart(slower, same) == {"told": 0, "pairs": 4}
    assert told_apart([grade(1.0, 0.02)], slower) == {"told": 0, "pairs": 2}
    assert told_apart([], slower) == {"told": 0, "pairs": 0}


def test_grades_are_gathered_by_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.repeatability import repeat

    rounds = count()
    seen: list[tuple[str, ...]] = []

    def submit(*arguments: str) -> list[dict[str, Any]]:
        seen.append(arguments)
        late = next(rounds) * 1e-3

        def one(name: str, value: float) -> dict[str, Any]:
            speedup = grade(value + late)
            score = {"speedup": speedup, "ranked": speedup.pop("ranked"), "unranked_reason": ""}
            conditions = {"clock_mhz": [1980, 1980]}
            return {"solution": {"name": name}, "score": score, "conditions": conditions}

        failed = {"solution": {"name": "tiled"}, "score": None, "verdict": "X", "message": "bad"}
        return [one("spin", 1.0), one("slower", 0.99), failed]

    found = repeat(submit, tmp_path, 3, 60.0)
    assert len(seen) == 3
    graded = sorted(file.stem for file in Path(seen[0][0]).rglob("*.cu"))
    assert graded == ["slower", "spin", "tiled", "vectorized"]
    assert [each["value"] for each in found["scores"]["spin"]] == pytest.approx([1, 1.001, 1.002])
    assert found["scores"]["spin"][0]["clock_mhz"] == [1980, 1980]
    assert (found["told"], found["pairs"]) == (9, 9)
    # Four pairs 0.1 % apart, with intervals of ±0.2 %, beside 20 of the assumed 0.15 %.
    error = math.log(1.002 / 0.998) / 2 / 1.96
    variance = (20 * 0.0015**2 + 4 * (0.001**2 / 2 - error**2)) / 24
    assert found["sigma_aa"] == pytest.approx(math.sqrt(variance), rel=1e-3)
    printed = capsys.readouterr().out
    assert "tiled: X bad" in printed
    assert "spin | 3 | 3 | 1.0010 | ±0.20% | 0.100% | 0.10%" in printed
    assert "spin against itself: within 0.5 % in 3 of 3 pairs of grades" in printed
    assert repeat(submit, tmp_path / "late", 3, -1.0)["pairs"] == 0
