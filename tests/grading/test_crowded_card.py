"""Whole grades on a GPU whose memory other programs hold most of."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from harness.device.choose import open_device
from harness.device.cuda import CudaDevice
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.result import Result
from harness.timing import measure

pytestmark = [pytest.mark.gpu, pytest.mark.timed]

ROOT = Path(__file__).parents[2]
LEFT = 9 << 30
"""Bytes that are left to the judge and to the runners, whose contexts take about 2 GiB."""
VECTORS = ({"n": 8_388_608}, {"n": 3_333_333})


@pytest.fixture
def crowded() -> Iterator[CudaDevice]:
    """The card, all of whose memory is taken but :data:`LEFT`."""
    device = open_device("cuda")
    assert isinstance(device, CudaDevice)
    held = torch.empty(device.free_bytes() - LEFT, dtype=torch.uint8, device="cuda")
    yield device
    del held
    torch.cuda.empty_cache()


def vectors() -> Problem:
    """Vector addition, timed with the shapes whose grades ran out of memory once."""
    problem = load_problem(ROOT / "problems/vector-add")
    return replace(problem, benchmarks=VECTORS)


def graded(device: CudaDevice, problem: Problem, solution: Path) -> list[Result]:
    """Two grades of one file, with the same trusted runners."""
    read = read_solution(solution, problem=problem.slug)
    job = Job(path=str(solution), solution=read, problem=problem)
    with Grader(device, NoProgress()) as grader:
        return [grader.grade(job, Options()) for _ in range(2)]


def test_large_vectors_are_timed(crowded: CudaDevice) -> None:
    problem = vectors()
    file = problem.folder / "examples/accepted/custom_kernel.py"
    for result in graded(crowded, problem, file):
        assert result.accepted, result.message
        calls = [each.calls_per_batch for each in result.measurements]
        print("calls per batch", calls)
        assert all(2 < each < 120 for each in calls)
    assert crowded.free_bytes() > LEFT // 2


def test_a_product_of_matrices_is_timed(crowded: CudaDevice) -> None:
    problem = load_problem(ROOT / "problems/gemm-multiply-leakyrelu")
    for result in graded(crowded, problem, next(iter(problem.baselines.values()))):
        assert result.accepted, result.message


def test_calls_are_halved_where_there_is_less_than_was_said(
    crowded: CudaDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another program takes the memory between the question and the allocation."""
    most = measure.most_calls
    monkeypatch.setattr(measure, "most_calls", lambda *how: 6 * most(*how))
    problem = vectors()
    file = problem.folder / "examples/accepted/custom_kernel.py"
    for result in graded(crowded, problem, file):
        assert result.accepted, result.message
        for each, shape in zip(result.measurements, VECTORS, strict=True):
            # Three vectors of four bytes a number, for the submission and for the baseline.
            assert 2 * each.calls_per_batch * 12 * shape["n"] < LEFT


def test_the_card_is_as_free_after_grades_as_after_the_first(crowded: CudaDevice) -> None:
    """Runners that live on let go of their arenas."""
    problem = vectors()
    file = problem.folder / "examples/accepted/custom_kernel.py"
    job = Job(path=str(file), solution=read_solution(file, problem=problem.slug), problem=problem)
    with Grader(crowded, NoProgress()) as grader:
        free = []
        for _ in range(3):
            assert grader.grade(job, Options(quick=True)).accepted
            free.append(crowded.free_bytes())
    assert max(free) - min(free) < 200 << 20
