"""Problems of our own in the formats of others, written to a folder and graded on the CPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from harness.device.cpu import CpuDevice
from harness.formats.known import read_problem
from harness.formats.problem import Foreign
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.progress.progress import NoProgress
from harness.records.result import Result


def written(folder: Path, name: str, text: str) -> Path:
    """A file with a dedented text."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
    return path


def foreign(path: Path) -> Foreign:
    """The problem at a path."""
    return Foreign(source=read_problem(path))


def job(problem: Foreign, file: Path) -> Job:
    """A file to be graded for it."""
    solution = read_solution(file, problem=problem.slug, author="somebody")
    return Job(path=str(file), solution=solution, problem=problem)


@contextmanager
def grading() -> Iterator[Grader]:
    """A grader without a GPU, one for many grades."""
    with Grader(CpuDevice(), NoProgress()) as grader:
        yield grader


def graded(grader: Grader, problem: Foreign, file: Path, **options: object) -> Result:
    """The result of a check."""
    chosen = Options(timing=False, shrink_s=0.0, **options)  # type: ignore[arg-type]
    return grader.grade(job(problem, file), chosen)


def graded_with(grader: Grader, folder: Path, text: str, formula: str, other: str) -> Result:
    """The result of a KernelBench module with ``other`` in place of the problem's ``formula``."""
    problem = foreign(written(folder, "set/1_a.py", text))
    mine = text.replace(formula, other).replace("class Model", "class ModelNew")
    return graded(grader, problem, written(folder, "mine.py", mine))
