"""What `python -m benchmarks neighbours` grades, and what it makes of the outcome."""

import math
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.samples import failed, measurement, result

from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.solution.model import Solution


def grade(score: float | None, *, ranked: bool = True, refused: bool = False) -> dict[str, Any]:
    return {
        "score": score, "ranked": ranked and score is not None, "refused": refused,
        "constant_us": 150.0, "clock_mhz": 1980, "power_w": 400.0,
    }  # fmt: skip


def test_a_shift_is_that_of_the_mean_log_score() -> None:
    from benchmarks.company import ALONE
    from benchmarks.neighbours import row

    alone = [grade(math.exp(x)) for x in (0.100, 0.102, 0.104)]
    beside = [grade(math.exp(x)) for x in (0.101, 0.103, 0.105)]
    found = row("grading", "a", beside, alone)
    assert found.shift == pytest.approx(0.001)
    assert found.sigma == pytest.approx(0.002)
    assert (found.grades, found.unranked, found.more_unranked, found.refused) == (3, 0, 0, 0)
    assert (found.constant_us, found.clock_mhz, found.power_w) == (150, 1980, 400)
    assert found.missed == ()
    assert row(ALONE, "a", alone, alone).shift == 0


@pytest.mark.parametrize(
    ("beside", "missed"),
    [
        ([grade(1.0021), grade(1.0021)], ("shift",)),
        ([grade(0.9979), grade(0.9979)], ("shift",)),
        ([grade(1.005), grade(0.995)], ("σ",)),
        ([grade(1.0), grade(1.0, ranked=False)], ("unranked",)),
        ([grade(1.0), grade(1.0), grade(None, refused=True)], ("refused",)),
        ([grade(None, refused=True)], ("shift", "σ", "refused")),
        ([], ("shift", "σ")),
    ],
)
def test_bars_that_are_missed_are_named(
    beside: list[dict[str, Any]], missed: tuple[str, ...]
) -> None:
    from benchmarks.neighbours import row

    assert row("grading", "a", beside, [grade(1.0)] * 3).missed == missed


def test_what_is_unranked_alone_too_is_no_neighbours_doing() -> None:
    from benchmarks.neighbours import row

    half = [grade(1.0), grade(1.0, ranked=False)]
    found = row("grading", "a", half, half)
    assert (found.unranked, found.more_unranked, found.missed) == (0.5, 0.0, ())


def test_a_result_is_read_as_it_is_written() -> None:
    import json

    from benchmarks.neighbours import grade_of

    measured = (measurement(launch_overhead_s=1e-4), measurement(launch_overhead_s=2e-4))
    found = grade_of(json.loads(result(speedup=1.25, measurements=measured).to_json()))
    assert found == {
        "score": 1.25, "ranked": True, "refused": False,
        "constant_us": pytest.approx(150), "clock_mhz": None, "power_w": None,
    }  # fmt: skip
    wrong = grade_of(json.loads(failed().to_json()))
    assert (wrong["score"], wrong["ranked"], wrong["refused"]) == (None, False, True)


def test_a_table_has_a_line_for_each_file_and_company() -> None:
    from benchmarks.neighbours import row, table

    rows = [
        row("alone", "a", [grade(1.0), grade(1.001)], [grade(1.0), grade(1.001)]),
        row("products", "a", [grade(1.01)], [grade(1.0)]),
    ]
    lines = table(rows)[2:]
    assert lines[0] == "| alone | a | 2 | +0.00% | 0.07% | 0% | 0 | 150 | 1980 | 400 | – |"
    assert lines[1] == "| products | a | 1 | +1.00% | – | 0% | 0 | 150 | 1980 | 400 | shift, σ |"


def test_cards_are_counted_against_one() -> None:
    from benchmarks.neighbours import Scale

    good = Scale(cards=4, one_per_minute=16.0, all_per_minute=60.0)
    assert (good.factor, good.missed) == (3.75, ())
    assert "3.75 times as many (bar: 3.75 times, 60 a minute)" in good.line()
    slow = Scale(cards=4, one_per_minute=16.0, all_per_minute=59.0)
    assert slow.missed == ("factor", "files a minute")
    assert Scale(cards=2, one_per_minute=10.0, all_per_minute=19.0).missed == ("files a minute",)


@pytest.mark.parametrize("copies", [1, 3])
def test_the_six_files_have_a_problem_each_with_one_shape(tmp_path: Path, copies: int) -> None:
    from benchmarks.neighbours import SIX, write_six

    problems, solutions = write_six(tmp_path, copies)
    files = [path for path in solutions.rglob("*") if path.is_file()]
    assert len(files) == copies * len(SIX) == copies * 6
    for name in {file.parts[-3] for file in files}:
        assert len({file.read_text() for file in (solutions / name).rglob("*.*")}) == copies
    for file in files:
        problem = load_problem(problems / file.parts[-3])
        assert problem.slug == file.parts[-3]
        assert len(problem.benchmarks) == 1
        assert isinstance(read_solution(file, problem=problem.slug), Solution)


def test_rounds_are_grades_of_the_watched_card(tmp_path: Path) -> None:
    import json

    from benchmarks.neighbours import rounds

    asked: list[tuple[str, ...]] = []

    def run(*words: str) -> list[Any]:
        asked.append(words)
        return [json.loads(result(problem=slug).to_json()) for slug in ("a", "b")]

    found = list(rounds("GPU-1", ("submit", "x"), tmp_path, 3, 60.0, run))
    assert [name for name, _ in found] == ["a", "b"] * 3
    assert all(words[:4] == ("submit", "x", "--card", "GPU-1") for words in asked)
    assert list(rounds("GPU-1", (), tmp_path, 3, -1.0, run)) == []


def test_company_is_kept_until_the_end_and_ended_whole(tmp_path: Path) -> None:
    from benchmarks.company import company

    child = tmp_path / "child"
    sleeper = (
        "import subprocess, sys; from pathlib import Path; "
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        f"Path({str(child)!r}).write_text(str(one.pid)); one.wait()"
    )
    commands = [
        (
            [sys.executable, "-c", "import os; assert os.environ['CARD'] == '1'"],
            {"CARD": "1"},
            0.01,
        ),
        ([sys.executable, "-c", sleeper], {}, 0.0),
    ]
    with company(commands) as counts:
        until = time.monotonic() + 60
        while not (counts[0] > 2 and child.exists() and child.read_text()):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert counts[1] == 0
    pid = int(child.read_text())
    until = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_one_gpu_has_no_neighbours() -> None:
    from benchmarks.neighbours import neighbours

    with pytest.raises(SystemExit, match="two GPUs"):
        neighbours(["GPU-1"], 1, 1.0, 0)
