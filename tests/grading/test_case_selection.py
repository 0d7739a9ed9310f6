"""Which cases are drawn."""

from pathlib import Path

import pytest
from formats.kernelbench_problems import HEAD, SCALED
from support.foreign import foreign, written

from harness.device.cpu import CpuDevice
from harness.grading import case_selection
from harness.grading.job import Options
from harness.judge.task import Task
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.reference import Reference
from harness.sandbox import leftovers

SHIFT = Path(__file__).parents[1] / "support/packages/shift"


def test_cases_are_drawn_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    shift = load_problem(SHIFT)
    asked = []
    monkeypatch.setattr(Problem, "draw_cases", lambda *_, **options: asked.append(options) or [])
    for free in (7 << 30, 6 << 30):  # a little less, and yet the same cases
        monkeypatch.setattr(CpuDevice, "free_bytes", lambda _, free=free: free)
        case_selection.correctness_cases(
            Task(shift, Reference(shift), "float32", CpuDevice(), "seed"), Options()
        )
    assert [options["room"].bytes for options in asked] == [2 << 30] * 2
    monkeypatch.setattr(CpuDevice, "free_bytes", lambda _: 0)
    assert case_selection.case_bytes(shift, CpuDevice()) == 1


@pytest.mark.parametrize("free", [17 << 30, 80 << 30, 141 << 30])
def test_all_large_cards_draw_the_same_cases(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CpuDevice, "free_bytes", lambda _: free)
    assert case_selection.case_bytes(load_problem(SHIFT), CpuDevice()) == 8 << 30


def test_what_is_ending_is_waited_for_where_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the same seed would draw smaller cases than it does when they are replayed."""
    free = [9 << 30]
    monkeypatch.setattr(CpuDevice, "free_bytes", lambda _: free[0])
    monkeypatch.setattr(leftovers, "settle", lambda: free.insert(0, 17 << 30))
    shift = load_problem(SHIFT)
    assert case_selection.case_bytes(shift, CpuDevice()) == 8 << 30
    assert case_selection.case_bytes(shift, CpuDevice()) == 8 << 30
    assert free == [17 << 30, 9 << 30]  # there was enough the second time


def test_given_sizes_get_seven_eighths_of_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CpuDevice, "free_bytes", lambda _: 80 << 30)
    problem = foreign(written(tmp_path, "level1/1_a.py", HEAD + SCALED))
    device = CpuDevice()
    assert case_selection.case_bytes(problem, device) == 8 << 30
    device.emulated = False
    assert case_selection.case_bytes(problem, device) == 70 << 30
