"""The samples of every optional language on a GPU; on any machine, what they are told without."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.frameworks import FRAMEWORKS
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.judge.batch import Batch
from harness.judge.task import Task
from harness.languages.build.framework_imports import known_fault
from harness.languages.python import needed_frameworks
from harness.languages.read import read_solution
from harness.problem.case import whole_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram
from harness.session.runs import RunOptions
from harness.session.session import Session
from harness.solution.launches import Launches, read_launches
from harness.solution.model import Solution

ROOT = Path(__file__).parents[2]
LANGUAGES = ("ptx", *FRAMEWORKS)


def _samples() -> Iterator[object]:
    for path in sorted(ROOT.glob("solutions/*/samples/*")):
        solution = read_solution(path)
        if isinstance(solution, Solution) and solution.language in LANGUAGES:
            yield pytest.param(solution, id=str(path.relative_to(ROOT / "solutions")))


SAMPLES = list(_samples())


def test_every_language_has_samples_of_two_problems() -> None:
    problems: dict[str, set[str | None]] = {language: set() for language in LANGUAGES}
    for parameter in SAMPLES:
        (solution,) = parameter.values  # type: ignore[attr-defined]
        problems[solution.language].add(solution.problem)
    assert {language for language, found in problems.items() if len(found) < 2} == set()


@pytest.mark.parametrize("solution", SAMPLES)
def test_without_a_gpu_the_verdict_says_why(solution: Solution) -> None:
    with Grader(CpuDevice(), NoProgress()) as grader:
        problem = load_problem(ROOT / "problems" / str(solution.problem))
        job = Job(path=solution.display_path, solution=solution, problem=problem)
        result = grader.grade(job, Options(timing=False))
    assert result.verdict is Verdict.NOT_EXECUTABLE_HERE, result.message
    assert "NVIDIA GPUs alone" in result.message


@pytest.mark.gpu
@pytest.mark.parametrize("solution", SAMPLES)
def test_samples_are_accepted_on_a_gpu(solution: Solution) -> None:
    for framework in needed_frameworks(solution.language, solution.text):
        if framework.version() is None:
            pytest.skip(f"{framework.title} is not installed here: {framework.remedy}")
        if fault := known_fault(framework):
            pytest.skip(f"{fault.reason}: {fault.remedy}")
    with Grader(open_device("cuda"), NoProgress()) as grader:
        problem = load_problem(ROOT / "problems" / str(solution.problem))
        job = Job(path=solution.display_path, solution=solution, problem=problem)
        result = grader.grade(job, Options(timing=False, shrink_s=0.0))
    assert result.accepted, f"{result.verdict}: {result.message}\n{result.output[-2000:]}"


def test_a_launch_that_does_not_fit_a_case_is_the_submission_s_fault() -> None:
    problem = load_problem(ROOT / "problems/vector-add")
    text = "// launch: k\n// grid: n // 256\n// block: 256\n"
    launches = Launches(read_launches(text, problem), {}, 1 << 16, "a.ptx")
    task = Task(problem, Reference(problem), "float32", CpuDevice(), "seed")
    case = whole_case(problem, {"n": 100})
    arena = task.device.arena(1 << 20)
    session = Session.__new__(Session)  # it is found before anything is asked of a runner
    session._program = RunnerProgram(kind="ptx", launches=launches)
    try:
        fault = session.prepare(Batch(task, case, arena, 1), RunOptions())
    finally:
        arena.close()
    assert isinstance(fault, Fault)
    assert fault.verdict is Verdict.INVALID_SUBMISSION
    assert fault.message == ("a.ptx:2: grid: n // 256 is 0 with n=100; 1 to 2147483647 are allowed")
