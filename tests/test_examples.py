"""Every example and every solution in this tree gets the verdict that its header promises.

A submission is data here: its second line or so says ``verdict: X`` or ``verdict: X; on cpu: Y``
(a solution that says nothing must be accepted), ``dtypes:`` what it is written for.
"""

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.grade import Grader
from harness.job import Job, Options
from harness.judge.device import open_device
from harness.problem.load import load_problem, problem_slugs
from harness.problem.model import Problem
from harness.report.progress import Silent
from harness.result import Result, Verdict
from harness.solution import triton_target
from harness.solution.cache import Outcome
from harness.solution.model import Solution
from harness.solution.read import read_solution
from harness.solution.triton_target import compile_for_target

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "problems"
_HEADER = re.compile(r"^(?://|#) verdict: (\w+)(?:; on cpu: (\w+))?", re.MULTILINE)
_SUFFIXES = (".cu", ".py")
_UNSAID = {"tensor_core.cu": Verdict.NOT_EXECUTABLE_HERE}
"""Solutions that a CPU cannot run, by name."""

DTYPES = ("float32", "float16", "bfloat16")


class Example(NamedTuple):
    """A file and what must become of it."""

    path: Path
    cuda: Verdict
    cpu: Verdict

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def slug(self) -> str:
        return self.path.relative_to(ROOT).parts[1]


def _examples() -> Iterator[Example]:
    for path in sorted(PROBLEMS.glob("*/examples/*/*")):
        if path.suffix in _SUFFIXES:
            found = _HEADER.search(path.read_text(encoding="utf-8"))
            assert found, f"{path}: no line says its verdict"
            verdict = Verdict(found[1].upper())
            yield Example(path, verdict, Verdict((found[2] or found[1]).upper()))


def _solutions() -> Iterator[Example]:
    for path in sorted(ROOT.glob("solutions/*/*/*")):
        if path.suffix in _SUFFIXES:
            cpu = _UNSAID.get(path.name, Verdict.ACCEPTED)
            yield Example(path, Verdict.ACCEPTED, cpu)


EXAMPLES, SOLUTIONS = list(_examples()), list(_solutions())


def _parameter(example: Example) -> Any:
    marks = [pytest.mark.nvcc] if example.path.suffix == ".cu" else []
    return pytest.param(example, id=example.name, marks=marks)


_PARAMETERS = [_parameter(example) for example in [*EXAMPLES, *SOLUTIONS]]
every_file = pytest.mark.parametrize("example", _PARAMETERS)
every_example = pytest.mark.parametrize("example", _PARAMETERS[: len(EXAMPLES)])
every_solution = pytest.mark.parametrize("example", _PARAMETERS[len(EXAMPLES) :])


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    return {slug: load_problem(PROBLEMS / slug) for slug in problem_slugs(PROBLEMS)}


def _limited(problem: Problem, verdict: Verdict) -> Problem:
    """``problem``, with limits that are reached sooner by those who must reach them."""
    if verdict is Verdict.TIME_LIMIT:
        limits = replace(problem.limits, call_s=0.5, prepare_s=20.0)
    elif verdict is Verdict.MEMORY_LIMIT:
        limits = replace(problem.limits, host_bytes=1 << 30)
    else:
        return problem
    return replace(problem, limits=limits)


def _job(example: Example, problem: Problem, verdict: Verdict) -> Job:
    solution = read_solution(example.path, problem=problem.slug)
    return Job(path=example.name, solution=solution, problem=_limited(problem, verdict))


def _compile_where_it_matters(solution: Solution, *rest: Any) -> Outcome:
    """Compiling Triton for a card takes most of the time, and decides few of the verdicts."""
    decisive = "compile_error" in solution.display_path or "samples" in solution.display_path
    return compile_for_target(solution, *rest) if decisive else Outcome()


OnCpu = Callable[[Example], Result]


@pytest.fixture(scope="module")
def on_cpu(request: pytest.FixtureRequest, problems: dict[str, Problem]) -> Iterator[OnCpu]:
    """Grades on the CPU path; all that were selected at once, side by side."""
    wanted = {
        item.callspec.params["example"].name: item.callspec.params["example"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "on_cpu" in item.fixturenames
        if not item.get_closest_marker("skip")
    }
    alone = hasattr(request.config, "workerinput")  # with pytest-xdist, others take the other cores
    pool = ThreadPoolExecutor(1 if alone else min(4, os.cpu_count() or 1))
    with (
        pytest.MonkeyPatch.context() as patch,
        Grader(open_device("cpu"), Silent()) as grader,
        pool,
    ):
        patch.setattr(triton_target, "compile_for_target", _compile_where_it_matters)

        def grade(example: Example) -> Result:
            job = _job(example, problems[example.slug], example.cpu)
            return grader.grade(job, Options(timing=False, shrink_s=0))

        started: dict[str, Future[Result]] = {}
        if not alone:
            slow_first = sorted(wanted.values(), key=lambda e: "import triton" not in e.text)
            started = {e.name: pool.submit(grade, e) for e in slow_first}
        try:
            yield lambda e: started[e.name].result() if e.name in started else grade(e)
        finally:
            pool.shutdown(cancel_futures=True)


def told(result: Result) -> str:
    return f"{result.verdict}: {result.message}\n{result.output[-2000:]}"


@every_file
def test_on_a_cpu(on_cpu: OnCpu, example: Example) -> None:
    result = on_cpu(example)
    assert result.verdict is example.cpu, told(result)
    assert result.measurements == ()
    assert result.message or result.accepted
    assert str(ROOT / "harness") not in result.message  # nothing of ours in a traceback
    if result.verdict is Verdict.WRONG_ANSWER:
        assert result.failed_case is not None
        assert f"--case {result.failed_case.spec} " in result.reproduce.replace("'", "")


@every_example
def test_a_file_lies_in_the_folder_of_its_verdict(example: Example) -> None:
    folder = Verdict(example.path.parent.name.upper())
    assert folder in (example.cuda, example.cpu)


def test_there_is_an_example_of_every_verdict_that_a_submission_can_get() -> None:
    verdicts = {example.cuda for example in EXAMPLES} | {example.cpu for example in EXAMPLES}
    assert verdicts == set(Verdict) - {Verdict.REJECTED, Verdict.INTERNAL_ERROR}


@pytest.fixture(scope="module")
def on_gpu(problems: dict[str, Problem]) -> Iterator[Callable[[Example, str | None], Result]]:
    with Grader(open_device("cuda"), Silent()) as grader:

        def grade(example: Example, dtype: str | None) -> Result:
            job = _job(example, problems[example.slug], example.cuda)
            return grader.grade(job, Options(timing=False, dtype=dtype, shrink_s=0))

        yield grade


@pytest.mark.gpu
@every_example
def test_on_a_gpu(on_gpu: Callable[[Example, str | None], Result], example: Example) -> None:
    result = on_gpu(example, None)
    assert result.verdict is example.cuda, told(result)


@pytest.mark.gpu
@every_solution
@pytest.mark.parametrize("dtype", DTYPES)
def test_solutions_on_a_gpu(
    on_gpu: Callable[[Example, str | None], Result], example: Example, dtype: str
) -> None:
    solution = read_solution(example.path)
    assert isinstance(solution, Solution)
    result = on_gpu(example, dtype)
    meant = solution.dtypes is None or dtype in solution.dtypes
    assert result.verdict is (Verdict.ACCEPTED if meant else Verdict.INVALID_SUBMISSION), told(
        result
    )
